import json
from collections.abc import Callable
from pathlib import Path

from graphs.process import Plan, ProcessSpec
from tests.graphs.conftest import Resolve, process

LayOut = Callable[..., Plan]
FILE = """\
Mooncake: {rpc-port: 5001}
Prefill:
  model: m
  data-parallel-size: 2
  enable-expert-parallel: false
  connectors: [nixl, mooncake]
  kv-events: true
  forward-pass-metrics: true
  kv-cache-layout: BLHNC
  model-runner-v2: true
  ServiceArgs: {worker: vllm, workers: 2, resources: {gpu: 2}}
Decode:
  model: m
  connectors: [nixl]
  ServiceArgs: {worker: vllm, workers: 1}
"""


def argument(spec: ProcessSpec, flag: str) -> str:
    return spec.argv[spec.argv.index(flag) + 1]


def test_each_process_has_ports_of_its_own(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure(text=FILE), gpus=8)
    bases = [
        (
            each.env["DYN_SYSTEM_PORT"],
            each.env["VLLM_NIXL_SIDE_CHANNEL_PORT"],
            json.loads(argument(each, "--kv-events-config"))["endpoint"],
            each.env["DYN_FORWARDPASS_METRIC_PORT"],
        )
        for each in (process(plan, "Prefill-0"), process(plan, "Prefill-1"))
    ]
    # One for the status server, then two ranks of each kind.
    assert bases == [
        ("20000", "20001", "tcp://*:20003", "20005"),
        ("20007", "20008", "tcp://*:20010", "20012"),
    ]
    assert process(plan, "Decode").env["DYN_SYSTEM_PORT"] == "20014"
    assert process(plan, "Prefill-1").ports["KV events"] == (20010, 20011)


def test_choices_that_are_no_flags_are_variables(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure("--Decode.model-runner-v2=false", text=FILE), gpus=8)
    prefill, decode = process(plan, "Prefill-0").env, process(plan, "Decode").env
    assert (prefill["VLLM_KV_CACHE_LAYOUT"], prefill["VLLM_USE_V2_MODEL_RUNNER"]) == ("BLHNC", "1")
    assert decode["VLLM_USE_V2_MODEL_RUNNER"] == "0"
    assert not {"VLLM_KV_CACHE_LAYOUT", "DYN_FORWARDPASS_METRIC_PORT", "MOONCAKE_CONFIG_PATH"} & set(decode)


def test_an_engine_that_tells_its_steps_times_its_requests(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure(text=FILE), gpus=8)
    assert argument(process(plan, "Prefill-0"), "--scheduler-cls") == "components.engine.scheduler.TimedScheduler"
    assert "--scheduler-cls" not in process(plan, "Decode").argv

    plan = lay_out(configure("--Prefill.scheduler-cls=mine.Scheduler", text=FILE), gpus=8)
    assert argument(process(plan, "Prefill-0"), "--scheduler-cls") == "mine.Scheduler"


def test_the_stores_file_is_written_for_those_who_name_it(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure(text=FILE), gpus=8)
    assert process(plan, "Prefill-0").env["MOONCAKE_CONFIG_PATH"] == "/run/graph/mooncake.json"
    assert '"master_server_address": "127.0.0.1:5001"' in plan.files[Path("/run/graph/mooncake.json")]
    assert process(plan, "Prefill-0").after == ("Mooncake",)
    assert lay_out(configure("--Prefill.connectors=[nixl]", text=FILE), gpus=8).files == {}


def test_a_file_of_ones_own_is_left_to_the_worker(configure: Resolve, lay_out: LayOut) -> None:
    word = "--Prefill.ServiceArgs.envs={MOONCAKE_CONFIG_PATH: /etc/mooncake.json}"
    plan = lay_out(configure(word, text=FILE), gpus=8)
    assert process(plan, "Prefill-0").env["MOONCAKE_CONFIG_PATH"] == "/etc/mooncake.json"
    assert plan.files == {}


def test_one_machine_talks_on_loopback(configure: Resolve, lay_out: LayOut) -> None:
    env = process(lay_out(configure(text=FILE), gpus=8), "Decode").env
    assert {env[name] for name in ("VLLM_HOST_IP", "VLLM_NIXL_SIDE_CHANNEL_HOST", "DYN_SYSTEM_HOST")} == {"127.0.0.1"}


def test_several_machines_talk_on_the_address_that_was_given(configure: Resolve, lay_out: LayOut) -> None:
    words = ("--Runtime.discovery-backend=etcd", "--Prefill.side-channel-host=192.0.2.1")
    plan = lay_out(configure(*words, text=FILE), gpus=8)
    prefill, decode = process(plan, "Prefill-0").env, process(plan, "Decode").env
    assert prefill["VLLM_HOST_IP"] == prefill["VLLM_NIXL_SIDE_CHANNEL_HOST"] == "192.0.2.1"
    assert not {"VLLM_HOST_IP", "VLLM_NIXL_SIDE_CHANNEL_HOST", "DYN_SYSTEM_HOST"} & set(decode)
    assert decode["VLLM_NIXL_SIDE_CHANNEL_PORT"]


def test_what_was_written_by_hand_is_passed_on(configure: Resolve, lay_out: LayOut) -> None:
    words = (
        "--Decode.connectors=",
        "--Decode.kv-transfer-config={kv_connector: NixlConnector, kv_role: kv_consumer}",
        "--Decode.kv-events-config={enable_kv_cache_events: true, endpoint: 'tcp://*:5557'}",
    )
    decode = process(lay_out(configure(*words, text=FILE), gpus=8), "Decode")
    assert json.loads(argument(decode, "--kv-transfer-config"))["kv_role"] == "kv_consumer"
    assert json.loads(argument(decode, "--kv-events-config"))["endpoint"] == "tcp://*:5557"


def test_a_person_has_the_last_word_on_the_environment(configure: Resolve, lay_out: LayOut) -> None:
    word = "--Decode.ServiceArgs.envs={VLLM_NIXL_SIDE_CHANNEL_PORT: 5600}"
    assert process(lay_out(configure(word, text=FILE), gpus=8), "Decode").env["VLLM_NIXL_SIDE_CHANNEL_PORT"] == "5600"
