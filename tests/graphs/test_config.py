from dataclasses import replace

import pytest

from graphs.errors import Refusal
from graphs.model import Graph, Service, dep
from graphs.workers import local, mocker
from tests.graphs.conftest import Resolve

FILE = """\
Common:
  model-path: m
  model-name: n
  block-size: 64
Prefill:
  common-configs: [model-path, model-name, block-size]
  block-size: 32
  max-num-seqs: 10
Decode:
  common-configs: [model-path, model-name, block-size]
"""


def settings(configure: Resolve, *words: str, text: str = FILE, service: str = "Prefill") -> dict[str, object]:
    config = configure(*words, text=text)
    found = {each.service.name: each for each in config.services}[service]
    return {key: value.value for key, value in found.origins.items()}


def origin(configure: Resolve, key: str, *words: str, service: str = "Prefill") -> str:
    config = configure(*words, text=FILE)
    found = {each.service.name: each for each in config.services}[service]
    return found.origins[key].origin.rpartition("/")[2]


def test_the_file_beats_the_default_and_the_command_line_beats_the_file(configure: Resolve) -> None:
    assert settings(configure)["data-parallel-size"] == 8
    assert settings(configure)["max-num-seqs"] == 10
    assert settings(configure, "--Prefill.data-parallel-size=2", "--Prefill.max-num-seqs=20")["max-num-seqs"] == 20
    assert origin(configure, "data-parallel-size") == "topology DEP8 of glm53"
    assert origin(configure, "max-num-seqs") == "graph.yaml:8"
    assert origin(configure, "max-num-seqs", "--Prefill.max-num-seqs=20") == "--Prefill.max-num-seqs=20"


def test_a_services_own_key_beats_common_however_common_was_given(configure: Resolve) -> None:
    assert settings(configure, "--Common.block-size=128")["block-size"] == 32
    assert settings(configure, "--Common.block-size=128", service="Decode")["block-size"] == 128
    assert origin(configure, "block-size", service="Decode") == "graph.yaml:4 (Common)"
    assert (
        origin(configure, "block-size", "--Common.block-size=1", service="Decode") == "--Common.block-size=1 (Common)"
    )


def test_the_packaged_configuration_is_what_the_issue_asks_for(configure: Resolve) -> None:
    config = configure()
    shape = [(each.service.name, each.worker.name, each.args.workers) for each in config.services]
    assert shape == [("Frontend", "frontend", 1), ("Prefill", "mocker", 1), ("Decode", "local", 4)]
    assert {each.model_name for each in config.services} == {None, "glm-5.3-stand-in"}
    assert config.runtime.discovery_backend == "file"


def test_an_optional_service_runs_when_it_is_mentioned(configure: Resolve) -> None:
    named = [each.service.name for each in configure(text="Mooncake:\n").services]
    assert named == ["Frontend", "Prefill", "Decode", "Mooncake"]
    assert "Mooncake" in [each.service.name for each in configure("--Mooncake.rpc-port=5", text="").services]
    assert "Mooncake" not in [each.service.name for each in configure(text="").services]


def test_a_service_with_no_workers_is_left_out(configure: Resolve) -> None:
    names = [each.service.name for each in configure("--Decode.ServiceArgs.workers=0").services]
    assert names == ["Frontend", "Prefill"]


def test_the_file_chooses_the_worker_and_with_it_the_settings(configure: Resolve) -> None:
    config = configure(text="Decode:\n  model: x\n  kv-cache-dtype: fp8\n  ServiceArgs: {worker: vllm}\n")
    decode = config.services[-1]
    assert (decode.worker.name, decode.model, decode.model_name) == ("vllm", "x", "x")
    assert decode.args.resources.gpu == 4
    assert decode.args.ready_seconds == 1800
    assert "--tensor-parallel-size" in decode.settings.arguments()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Prefil: {}\n", "graph.yaml:1: no service 'Prefil' in glm53: did you mean 'Prefill'?"),
        ("Prefill: 3\n", "graph.yaml:1: Prefill must map settings to values, not 3"),
        ("Prefill:\n  blocksize: 3\n", "graph.yaml:2: Prefill has no setting 'blocksize': did you mean 'block-size'?"),
        (
            "Prefill:\n  block_size: 3\n",
            "graph.yaml:2: Prefill has no setting 'block_size': did you mean 'block-size'?",
        ),
        ("Prefill:\n  block-size: big\n", "graph.yaml:2: Prefill.block-size must be a valid integer, unable to parse"),
        ("Prefill:\n  block-size: 0\n", "graph.yaml:2: Prefill.block-size must be greater than 0, not 0"),
        ("Prefill:\n  preemption-mode: x\n", "graph.yaml:2: Prefill.preemption-mode must be 'lifo' or 'fifo', not 'x'"),
        (
            "Prefill:\n  ServiceArgs:\n    resources: {gpus: 1}\n",
            "graph.yaml:3: Prefill.ServiceArgs has no setting 'gpus': did you mean 'gpu'?",
        ),
        ("Prefill:\n  ServiceArgs: 1\n", "graph.yaml:2: Prefill.ServiceArgs must map names to values, not 1"),
        (
            "Prefill:\n  ServiceArgs: {resources: 1}\n",
            "graph.yaml:2: Prefill.ServiceArgs.resources must be a valid dictionary or instance of Resources, not 1",
        ),
        (
            "Prefill:\n  ServiceArgs: {worker: mock}\n",
            "graph.yaml:2: Prefill cannot be run by 'mock': did you mean 'mocker'?",
        ),
        (
            "Common: {a: 1}\n",
            "graph.yaml:1: Common.a goes nowhere: list it in some service's common-configs",
        ),
        (
            "Prefill:\n  common-configs: [model]\n",
            "graph.yaml:2: Prefill.common-configs: Common has no 'model': valid: none",
        ),
        (
            "Prefill:\n  common-configs: model\n",
            "graph.yaml:2: Prefill.common-configs must be a list of keys of Common",
        ),
        (
            "Common: {model-path: x}\nFrontend:\n  common-configs: [model-path]\n",
            "graph.yaml:1 (Common): Frontend has no setting 'model-path': ",
        ),
        (
            "Runtime: {discovery-backend: consul}\n",
            "graph.yaml:1: Runtime.discovery-backend must be 'file', 'etcd', 'kubernetes' or 'mem', not 'consul'",
        ),
        (
            "Runtime:\n  discovery-backend: mem\n",
            "graph.yaml:2: Runtime: discovery-backend 'mem' is for one process; a graph has several: use 'file'",
        ),
    ],
)
def test_a_wrong_name_or_value_is_refused_with_its_place(configure: Resolve, text: str, problem: str) -> None:
    with pytest.raises(Refusal) as refusal:
        configure(text=text)
    (line,) = refusal.value.problems
    assert line.partition("graph.yaml")[2].startswith(problem.removeprefix("graph.yaml"))


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("--Decod.seed=1", "--Decod.seed=1: no service 'Decod' in glm53: did you mean 'Decode'?"),
        ("--Decode.sed=1", "--Decode.sed=1: Decode has no setting 'sed': did you mean 'seed'?"),
        (
            "--Decode.seed=x",
            "--Decode.seed=x: Decode.seed must be a valid integer, unable to parse string as an integer, ",
        ),
        ("--Common.x=1", "--Common.x=1: Common.x goes nowhere: list it in some service's common-configs"),
        ("--Decode.ServiceArgs.workers=-1", "--Decode.ServiceArgs.workers=-1: Decode.ServiceArgs.workers must be "),
    ],
)
def test_a_wrong_override_is_refused_as_it_was_written(configure: Resolve, word: str, problem: str) -> None:
    with pytest.raises(Refusal) as refusal:
        configure(word)
    assert str(refusal.value).startswith(problem)


def test_all_problems_are_told_at_once(configure: Resolve) -> None:
    with pytest.raises(Refusal) as refusal:
        configure("--Prefill.a=1", text="Prefil: {}\nDecode: {b: 1}\n")
    assert len(refusal.value.problems) == 3


def test_a_graphs_own_defaults_are_the_lowest_layer(configure: Resolve, glm53: Graph) -> None:
    front = glm53.service("Frontend")
    own = Service("Prefill", "prefill", (mocker("prefill"),), topology=dep(2), defaults={"max-num-seqs": 5})
    graph = replace(front.link(own).link(Service("Decode", "decode", (local(),))), name="mine")
    config = configure(text="", graph=graph)
    value = config.services[1].origins["max-num-seqs"]
    assert (value.value, value.layer, value.origin) == (5, "default", "default of mine")
