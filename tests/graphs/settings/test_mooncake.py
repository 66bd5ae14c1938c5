import pytest
from pydantic import ValidationError

from graphs.settings.mooncake import MooncakeSettings


def test_the_master_is_spoken_to_in_gflags_and_told_nothing_of_its_clients() -> None:
    settings = MooncakeSettings.model_validate(
        {"rpc-port": 5000, "enable-http-metadata-server": False, "protocol": "rdma", "global-segment-size": "140gb"}
    )
    assert settings.arguments() == (
        "--rpc_address=127.0.0.1",
        "--rpc_port=5000",
        "--enable_http_metadata_server=false",
        "--http_metadata_server_host=127.0.0.1",
        "--http_metadata_server_port=8080",
        "--metrics_host=127.0.0.1",
        "--metrics_port=9003",
    )


def test_ranks_give_memory_only_where_they_are_the_store() -> None:
    assert MooncakeSettings().segment_size == "4gb"
    assert MooncakeSettings.model_validate({"mode": "standalone-store"}).segment_size == "0"


@pytest.mark.parametrize(
    "wrong",
    [
        {"global-segment-size": "4 gibibytes"},
        {"global-segment-size": "0"},
        {"mode": "standalone-store", "global-segment-size": "1gb"},
        {"protocol": "quic"},
    ],
)
def test_what_a_client_would_refuse_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        MooncakeSettings.model_validate(wrong)
