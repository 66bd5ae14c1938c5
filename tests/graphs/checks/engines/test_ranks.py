import pytest

from tests.graphs.checks.engines.conftest import Refused

OVER_TWO = (
    "--Runtime.discovery-backend=etcd",
    "--Prefill.data-parallel-size-local=4",
    "--Prefill.data-parallel-hybrid-lb",
    "--Prefill.data-parallel-address=192.0.2.1",
    "--Prefill.data-parallel-rpc-port=13345",
)


def test_ranks_on_one_machine_need_no_balancer(refused: Refused) -> None:
    assert refused() == []


def test_ranks_on_two_machines_pass_when_all_is_said(refused: Refused) -> None:
    assert refused(*OVER_TWO) == []
    assert refused(*OVER_TWO, "--Prefill.data-parallel-start-rank=4") == []


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        (
            "--Prefill.data-parallel-hybrid-lb=false",
            "4 of 8 ranks are here, and without it the router would hear nothing",
        ),
        ("--Prefill.data-parallel-address=127.0.0.1", "the others look for rank 0 there: name rank 0's machine"),
        ("--Prefill.data-parallel-rpc-port=", "4 of 8 ranks are here, and all must know one port"),
        ("--Runtime.discovery-backend=file", "and discovery is a private folder: set Runtime.discovery-backend: etcd"),
        ("--Prefill.ServiceArgs.workers=2", "2 processes would take the same ranks"),
        ("--Prefill.data-parallel-start-rank=5", "ranks up to 8 are asked for here, and data-parallel-size is 8"),
        ("--Prefill.data-parallel-external-lb", "vLLM refuses it beside hybrid-lb"),
        ("--Prefill.data-parallel-size-local=", "it needs data-parallel-size-local"),
    ],
)
def test_a_rank_that_nobody_could_reach_is_refused(refused: Refused, word: str, problem: str) -> None:
    assert [line for line in refused(*OVER_TWO, word) if problem in line]


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        (
            "--Decode.ServiceArgs.envs={VLLM_NIXL_SIDE_CHANNEL_PORT: 5600}",
            "2 processes would share this port: leave it out: each process is given its own",
        ),
        (
            "--Decode.kv-events-config={enable_kv_cache_events: true, endpoint: 'tcp://*:5557'}",
            "2 processes would publish on one port: set kv-events: true instead",
        ),
    ],
)
def test_a_port_by_hand_is_for_one_process(refused: Refused, word: str, problem: str) -> None:
    assert [line for line in refused(word) if problem in line]
    assert refused(word, "--Decode.ServiceArgs.workers=1") == []


def test_events_come_from_a_prefix_cache(refused: Refused) -> None:
    (line,) = refused("--Prefill.kv-events", "--Prefill.enable-prefix-caching=false")
    assert line.endswith("without prefix caching there are none: set enable-prefix-caching: true")
