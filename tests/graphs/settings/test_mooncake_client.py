from graphs.settings.mooncake_client import MooncakeClientSettings


def test_it_is_spoken_to_in_gflags_and_left_to_find_the_master() -> None:
    settings = MooncakeClientSettings.model_validate({"global-segment-size": "140GB", "threads": 4})
    assert settings.arguments() == (
        "--host=127.0.0.1",
        "--port=50052",
        "--global_segment_size=140GB",
        "--threads=4",
    )
