import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphs.process import ChatReady, HttpReady, Plan, PortReady
from tests.graphs.conftest import Resolve, process

LayOut = Callable[..., Plan]
ENGINES = """\
Prefill: {model: m, ServiceArgs: {worker: vllm}}
Decode: {model: m, served-model-name: glm, ServiceArgs: {worker: vllm}}
"""


def test_the_local_graph_is_one_prefill_four_decoders_and_a_frontend(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure())
    assert [each.name for each in plan.processes] == [
        "Prefill",
        "Decode-0",
        "Decode-1",
        "Decode-2",
        "Decode-3",
        "Frontend",
    ]
    assert (plan.url, plan.model) == ("http://127.0.0.1:8000", "glm-5.3-stand-in")


def test_a_command_is_this_python_the_module_and_its_flags(configure: Resolve, lay_out: LayOut) -> None:
    argv = process(lay_out(configure()), "Prefill").argv
    assert argv[:5] == (sys.executable, "-m", "dynamo.mocker", "--disaggregation-mode", "prefill")
    assert argv[argv.index("--data-parallel-size") + 1] == "8"
    assert process(lay_out(configure()), "Frontend").argv[1:3] == ("-m", "components.frontend")


def test_the_stand_in_is_made_in_the_run_folder(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure())
    assert plan.stand_in == Path("/run/graph/stand-in")
    argv = process(plan, "Decode-2").argv
    assert argv[argv.index("--model-path") + 1] == "/run/graph/stand-in"
    assert process(plan, "Decode-2").env["HF_HUB_OFFLINE"] == "1"
    assert lay_out(configure(text=ENGINES)).stand_in is None


def test_a_graph_on_one_machine_is_ready_when_ports_and_a_chat_answer(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure("--Frontend.http-host=0.0.0.0", "--Frontend.http-port=9000"))
    assert process(plan, "Prefill").ready == PortReady("127.0.0.1", 20000)
    assert process(plan, "Prefill").env["DYN_TCP_RPC_PORT"] == "20000"
    assert process(plan, "Decode-3").ready == PortReady("127.0.0.1", 20004)
    assert process(plan, "Frontend").ready == ChatReady("http://127.0.0.1:9000", "glm-5.3-stand-in")


def test_a_worker_among_machines_is_ready_when_its_status_server_says_so(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure("--Runtime.discovery-backend=etcd"), only="Decode")
    assert [each.name for each in plan.processes] == ["Decode-0", "Decode-1", "Decode-2", "Decode-3"]
    assert process(plan, "Decode-1").ready == HttpReady("http://127.0.0.1:20001/health")
    assert (plan.url, plan.model) == (None, "glm-5.3-stand-in")


def test_a_frontend_alone_is_not_asked_to_chat(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure("--Runtime.discovery-backend=etcd"), only="Frontend")
    assert process(plan, "Frontend").ready == HttpReady("http://127.0.0.1:8000/live")
    assert (plan.url, plan.model) == ("http://127.0.0.1:8000", None)


def test_gpus_are_packed_replica_by_replica(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure(text=ENGINES), gpus=24)
    assert process(plan, "Prefill").gpus == tuple(range(8))
    assert process(plan, "Decode-3").gpus == (20, 21, 22, 23)
    assert process(plan, "Decode-3").env["CUDA_VISIBLE_DEVICES"] == "20,21,22,23"
    assert process(plan, "Frontend").env["CUDA_VISIBLE_DEVICES"] == ""


def test_a_machine_without_gpus_gets_no_gpu_environment(configure: Resolve, lay_out: LayOut) -> None:
    assert "CUDA_VISIBLE_DEVICES" not in process(lay_out(configure()), "Prefill").env


def test_a_store_starts_before_who_is_linked_to_it_and_stops_last(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure("--Mooncake.rpc-port=5001"))
    assert plan.processes[0].name == "Mooncake"
    assert process(plan, "Mooncake").argv[0] == str(Path(sys.executable).parent / "mooncake_master")
    assert process(plan, "Mooncake").ready == PortReady("127.0.0.1", 5001)
    assert process(plan, "Prefill").after == ("Mooncake",)
    assert process(plan, "Decode-0").after == ()


def test_memory_of_its_own_joins_the_store_before_prefill_does(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure("--Mooncake.rpc-port=5001", "--MooncakeClient.port=5002"))
    client = process(plan, "MooncakeClient")
    assert client.after == ("Mooncake",)
    assert process(plan, "Prefill").after == ("Mooncake", "MooncakeClient")
    assert client.ready == PortReady("127.0.0.1", 5002)
    assert client.argv[1:] == (
        "--host=127.0.0.1",
        "--port=5002",
        "--protocol=tcp",
        "--global_segment_size=4GB",
        "--master_server_address=127.0.0.1:5001",
        "--metadata_server=http://127.0.0.1:8080/metadata",
    )


def test_a_store_on_another_machine_is_not_waited_for(configure: Resolve, lay_out: LayOut) -> None:
    config = configure("--Mooncake.rpc-port=5001", "--Runtime.discovery-backend=etcd")
    assert process(lay_out(config, only="Prefill"), "Prefill").after == ()


def test_an_engine_is_ready_when_its_status_server_says_so_on_every_runtime(
    configure: Resolve, lay_out: LayOut
) -> None:
    for words in ((), ("--Runtime.discovery-backend=etcd",)):
        prefill = process(lay_out(configure(*words, text=ENGINES), gpus=24), "Prefill")
        assert prefill.ready == HttpReady("http://127.0.0.1:20000/health")
        assert prefill.env["DYN_SYSTEM_PORT"] == "20000"
        assert "DYN_TCP_RPC_PORT" not in prefill.env


def test_stopping_follows_a_request_from_front_to_back(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure("--Mooncake.rpc-port=5001"))
    ranks = [process(plan, name).stop_rank for name in ("Frontend", "Decode-0", "Prefill", "Mooncake")]
    assert ranks == sorted(set(ranks))


def test_service_args_reach_the_process(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(
        configure(
            "--Prefill.ServiceArgs.envs={DYN_LOG: debug, PYTHONHASHSEED: 7}",
            "--Prefill.ServiceArgs.restart=fail",
            "--Prefill.ServiceArgs.drain-seconds=3",
            "--Prefill.ServiceArgs.ready-seconds=4",
        )
    )
    prefill = process(plan, "Prefill")
    assert (prefill.env["DYN_LOG"], prefill.env["PYTHONHASHSEED"]) == ("debug", "7")
    assert (prefill.restart, prefill.drain_limit_s, prefill.ready_limit_s) == ("fail", 3.0, 4.0)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:8000"),  # noqa: S104 - nothing binds it here.
        ("::", "http://[::1]:8000"),
        ("::1", "http://[::1]:8000"),
        ("localhost", "http://localhost:8000"),
    ],
)
def test_a_frontend_is_asked_where_this_machine_reaches_it(
    configure: Resolve, lay_out: LayOut, host: str, url: str
) -> None:
    assert lay_out(configure(f"--Frontend.http-host={host}")).url == url


def test_workers_that_register_in_files_say_when_they_are_lost(configure: Resolve, lay_out: LayOut) -> None:
    by_file = lay_out(configure())
    assert {each.service for each in by_file.processes if each.lost} == {"Prefill", "Decode"}

    runtime = ("--Runtime.discovery-backend=etcd", "--Runtime.etcd-endpoints=http://192.0.2.1:2379")
    assert not any(each.lost for each in lay_out(configure(*runtime)).processes)
