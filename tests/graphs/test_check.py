from graphs.check import checked
from graphs.layers import Section, Value
from graphs.settings.launch import ServiceArgs
from graphs.settings.vllm import VllmSettings


def test_values_that_fit_make_the_model() -> None:
    problems: list[str] = []
    args = checked(ServiceArgs, "A", {("resources", "gpu"): Value(2, "file", "f:1")}, problems)
    assert args is not None
    assert args.resources.gpu == 2
    assert problems == []


def test_a_deeper_value_replaces_a_shallow_one_that_could_not_hold_it() -> None:
    section = {("resources",): Value(1, "file", "f:1"), ("resources", "gpu"): Value(2, "override", "--x")}
    args = checked(ServiceArgs, "A", section, [])
    assert args is not None
    assert args.resources.gpu == 2


def test_a_name_within_a_list_is_compared_with_those_that_may_stand_there() -> None:
    problems: list[str] = []
    checked(VllmSettings, "A", {("connectors",): Value([{"nixel": {}}], "file", "f:1")}, problems)
    checked(VllmSettings, "A", {("connectors",): Value([{"offload": {}}], "file", "f:2")}, problems)
    assert problems == [
        "f:1: A has no setting 'nixel': did you mean 'nixl'?",
        "f:2: A.connectors.0.offload.gib is required",
    ]


def test_each_value_that_does_not_fit_is_one_line_with_its_place() -> None:
    problems: list[str] = []
    section: Section = {("workers",): Value("x", "file", "f:1"), ("restart",): Value("y", "override", "--z")}
    assert checked(ServiceArgs, "A", section, problems) is None
    assert sorted(problem.partition(" ")[0] for problem in problems) == ["--z:", "f:1:"]
