import pytest

from tests.graphs.checks.engines.conftest import Refused

ETCD = "--Runtime.discovery-backend=etcd"
MULTI = "--Prefill.connectors=[nixl, {offload: {gib: 1}}]"


def test_one_machine_needs_no_address(refused: Refused) -> None:
    assert refused(MULTI) == []


def test_dynamo_finds_an_address_for_nixl_alone(refused: Refused) -> None:
    assert refused(ETCD) == []


def test_within_a_multi_connector_it_must_be_given(refused: Refused) -> None:
    (line,) = refused(ETCD, MULTI)
    assert line == (
        "Prefill.side-channel-host: not set; with MultiConnector the other stage would look for KV on its own machine: "
        "give this machine's address with --Prefill.side-channel-host=ADDRESS"
    )
    assert refused(ETCD, MULTI, "--Prefill.side-channel-host=192.0.2.1") == []
    assert refused(ETCD, MULTI, "--Prefill.ServiceArgs.envs={VLLM_NIXL_SIDE_CHANNEL_HOST: 192.0.2.1}") == []


def test_the_shell_may_give_it(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_NIXL_SIDE_CHANNEL_HOST", "192.0.2.1")
    assert refused(ETCD, MULTI) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1"])  # noqa: S104 - nothing binds it.
def test_an_address_that_means_each_machine_itself_is_refused(refused: Refused, host: str) -> None:
    (line,) = refused(ETCD, f"--Decode.side-channel-host={host}")
    assert f"Decode.side-channel-host: {host} is not reached from other machines" in line


def test_one_service_is_not_held_up_by_the_other(refused: Refused) -> None:
    assert refused(ETCD, MULTI, only="Decode") == []
