import pytest

from graphs.checks.capacity import capacity
from graphs.machine import Machine
from tests.graphs.conftest import Resolve

ENGINES = "Prefill: {model: m, ServiceArgs: {worker: vllm}}\nDecode: {model: m, ServiceArgs: {worker: vllm}}\n"


def test_a_graph_without_engines_needs_no_gpu(configure: Resolve) -> None:
    assert list(capacity(configure(), Machine(), None)) == []


@pytest.mark.parametrize("present", [0, 23])
def test_too_few_gpus_are_refused_with_the_sum(configure: Resolve, present: int) -> None:
    (check,) = capacity(configure(text=ENGINES), Machine(tuple(range(present))), None)
    assert str(check) == (
        f"GPUs: Prefill 1 x 8 + Decode 4 x 4 = 24 are needed and this machine has {present}: "
        "lower ServiceArgs.workers, or start each service where its GPUs are with --service-name"
    )


def test_enough_gpus_pass(configure: Resolve) -> None:
    (check,) = capacity(configure(text=ENGINES), Machine(tuple(range(24))), None)
    assert check.ok
    (check,) = capacity(configure(text=ENGINES), Machine(tuple(range(8))), "Prefill")
    assert check.ok


def test_an_engine_must_be_as_wide_as_what_it_is_given(configure: Resolve) -> None:
    config = configure("--Decode.tensor-parallel-size=2", text=ENGINES)
    _, check = capacity(config, Machine(tuple(range(24))), None)
    assert str(check) == (
        "Decode topology: its flags take 2 GPUs and ServiceArgs.resources.gpu gives 4: "
        "set --Decode.ServiceArgs.resources.gpu=2"
    )


def test_an_engine_on_cpus_has_no_width(configure: Resolve) -> None:
    words = ("--Prefill.ServiceArgs.resources.gpu=0", "--Decode.ServiceArgs.resources.gpu=0")
    assert list(capacity(configure(*words, text=ENGINES), Machine(), None)) == []


def test_only_the_ranks_of_this_node_count(configure: Resolve) -> None:
    words = ("--Prefill.data-parallel-size-local=4", "--Prefill.ServiceArgs.resources.gpu=4")
    (check,) = capacity(configure(*words, text=ENGINES), Machine(tuple(range(4))), "Prefill")
    assert check.ok
