from graphs.checks.engines.rules import rules
from graphs.machine import Machine
from tests.graphs.checks.engines.conftest import PAIR, Refused
from tests.graphs.conftest import Resolve


def test_a_graph_without_engines_has_no_rules(configure: Resolve) -> None:
    assert list(rules(configure(), Machine())) == []


def test_engines_that_no_rule_refuses_are_summed_up(configure: Resolve) -> None:
    found = list(rules(configure(text=PAIR), Machine()))
    assert [(check.name, check.ok) for check in found] == [("Prefill engine", True), ("Decode engine", True)]
    assert [check.name for check in rules(configure(text=PAIR), Machine(), "Decode")] == ["Decode engine"]


def test_all_problems_are_told_at_once(refused: Refused) -> None:
    assert len(refused("--Prefill.connectors=", "--Decode.kv-cache-layout=LBNHC", "--Decode.block-size=96")) == 3


def test_every_problem_is_one_line_with_place_reason_and_mend(refused: Refused) -> None:
    for line in refused("--Prefill.connectors=", "--Decode.kv-cache-layout=LBNHC", "--Decode.block-size=96"):
        assert "\n" not in line
        assert line.count(": ") >= 2
