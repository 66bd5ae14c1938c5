from graphs import gpus
from tests.graphs.conftest import Resolve

ENGINES = "Prefill: {model: m, ServiceArgs: {worker: vllm}}\nDecode: {model: m, ServiceArgs: {worker: vllm}}\n"


def test_replicas_get_neighbouring_gpus_in_turn() -> None:
    assert list(gpus.assign([2, 0, 3], [0, 1, 2, 3, 4, 5])) == [(0, 1), (), (2, 3, 4)]


def test_gpus_that_are_missing_are_numbered_on() -> None:
    assert list(gpus.assign([2, 2], [4, 5])) == [(4, 5), (6, 7)]
    assert list(gpus.assign([2], [])) == [(0, 1)]


def test_the_sum_is_shown_with_its_parts(configure: Resolve) -> None:
    config = configure(text=ENGINES)
    assert gpus.needed(config) == 24
    assert gpus.sum_shown(config) == "Prefill 1 x 8 + Decode 4 x 4 = 24"
    assert gpus.sum_shown(config, "Decode") == "Decode 4 x 4 = 16"
