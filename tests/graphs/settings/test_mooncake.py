from graphs.settings.mooncake import MooncakeSettings


def test_the_master_is_spoken_to_in_gflags() -> None:
    settings = MooncakeSettings.model_validate({"rpc-port": 5000, "enable-http-metadata-server": False})
    assert settings.arguments() == (
        "--rpc_address=127.0.0.1",
        "--rpc_port=5000",
        "--enable_http_metadata_server=false",
        "--http_metadata_server_host=127.0.0.1",
        "--http_metadata_server_port=8080",
    )
