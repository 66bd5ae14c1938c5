import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from graphs import show
from graphs.machine import Machine
from graphs.plan import make_plan
from graphs.process import Plan
from tests.graphs.conftest import Resolve

LayOut = Callable[..., Plan]


def commands(text: str) -> list[list[str]]:
    blocks = text.replace("\\\n", " ").split("\n\n")
    return [words for block in blocks if (words := shlex.split(block, comments=True))]


def test_every_process_is_one_command_that_a_shell_reads_back(configure: Resolve, lay_out: LayOut) -> None:
    plan = lay_out(configure('--Prefill.reasoning={"a": "it\'s"}', "--Prefill.ServiceArgs.envs={A: x y}"))
    stand_in, *lines = commands(show.as_shell(plan))
    assert stand_in[1:3] == ["-m", "components.local.model"]
    for line, process in zip(lines, plan.processes, strict=True):
        env = dict(word.split("=", 1) for word in line[1 : 1 + len(process.env)])
        assert line[0] == "env"
        assert env == process.env
        assert tuple(line[1 + len(process.env) :]) == process.argv


def test_gpus_and_order_are_said_beside_each_command(configure: Resolve, lay_out: LayOut) -> None:
    text = (
        "Mooncake:\nPrefill: {model: m, ServiceArgs: {worker: vllm}}\nDecode: {model: m, ServiceArgs: {worker: vllm}}\n"
    )
    shown = show.as_shell(lay_out(configure(text=text), gpus=24))
    assert shown.startswith("# glm53: 7 processes, 24 GPUs\n")
    assert "# Prefill: GPUs 0,1,2,3,4,5,6,7, starts after Mooncake, ready when " in shown
    assert "# Mooncake: no GPU, ready when 127.0.0.1:50051 accepts connections\n" in shown
    assert "CUDA_VISIBLE_DEVICES=20,21,22,23" in shown


ENGINES = """\
Mooncake: {global-segment-size: 1gb}
Prefill: {model: m, connectors: [nixl, mooncake], kv-events: true, ServiceArgs: {worker: vllm}}
Decode: {model: m, connectors: [nixl], ServiceArgs: {worker: vllm}}
"""


def test_files_are_written_first_by_a_command_of_their_own(configure: Resolve, tmp_path: Path) -> None:
    config = configure(text=ENGINES)
    plan = make_plan(config, Machine(ports=tuple(range(20000, 20100))), tmp_path / "run")
    prepare, *_ = commands(show.as_shell(plan))
    assert prepare == json.loads(show.as_json(plan, config))["prepare"][0]
    subprocess.run(prepare, check=True)
    ((path, text),) = plan.files.items()
    assert path.read_text() == text


def test_runs_of_ports_are_said_beside_each_command(configure: Resolve, lay_out: LayOut) -> None:
    shown = show.as_shell(lay_out(configure(text=ENGINES), gpus=24))
    assert "# Prefill: ports: status 20000, NIXL side channel 20001-20008, KV events 20009-20016\n" in shown
    assert "# Decode-0: ports: status 20017, NIXL side channel 20018\n" in shown


def test_connectors_are_shown_as_they_may_be_written(configure: Resolve) -> None:
    assert show.origins(configure(text=ENGINES))["Prefill"]["connectors"].value == [{"nixl": {}}, {"mooncake": {}}]


def test_programs_get_the_same_as_json(configure: Resolve, lay_out: LayOut) -> None:
    config = configure("--Frontend.http-port=9000")
    plan = lay_out(config)
    shown = json.loads(show.as_json(plan, config))
    assert [each["argv"] for each in shown["processes"]] == [list(each.argv) for each in plan.processes]
    assert shown["processes"][0]["ready"] == {"kind": "PortReady", "host": "127.0.0.1", "port": 20000}
    assert shown["prepare"][0][-1] == "/run/graph/stand-in"
    assert shown["settings"]["Frontend"]["http-port"] == {
        "value": 9000,
        "layer": "override",
        "origin": "--Frontend.http-port=9000",
    }


def test_every_effective_value_has_an_origin(configure: Resolve) -> None:
    values = show.origins(configure("--Decode.ServiceArgs.envs.A=1"))
    assert values["Prefill"]["data-parallel-size"].layer == "file"
    assert values["Prefill"]["ServiceArgs.ready-seconds"].origin == "default of mocker"
    assert values["Prefill"]["ServiceArgs.restart"].origin == "default of dynamo serve"
    assert values["Decode"]["ServiceArgs.envs"].origin == "--Decode.ServiceArgs.envs.A=1"
    assert values["Runtime"]["discovery-backend"].origin == "default of dynamo serve"


def test_the_table_of_origins_is_comments_in_columns(configure: Resolve) -> None:
    lines = show.as_table(configure("--Frontend.http-port=9000")).splitlines()
    assert all(line.startswith("# ") for line in lines)
    assert [line.split() for line in lines if "http-port" in line] == [
        ["#", "Frontend.http-port", "9000", "--Frontend.http-port=9000"]
    ]
