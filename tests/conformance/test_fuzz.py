import msgspec
import pytest

from tests.conformance import fuzz
from tests.conformance.accounting import unaccounted
from tests.conformance.cases import outputs
from toolcall import Parser
from toolcall.conformance import Case


@pytest.mark.parametrize("seed", range(4))
def test_mutated_outputs_have_no_fault(seed: int) -> None:
    faults = [case for _, case in fuzz.found(f"test {seed}", lambda tried: tried >= 400) if case is not None]
    assert not faults, msgspec.json.encode(faults[0])


@pytest.mark.parametrize("case", outputs(), ids=lambda case: str(case.id))
def test_nothing_of_a_published_output_is_lost(case: Case) -> None:
    assert unaccounted(case) is None


def test_a_parser_that_loses_text_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(output="Hi.</think>Lost.")
    assert unaccounted(case) is None
    monkeypatch.setattr(Parser, "_say", lambda _self, _text: None)
    assert unaccounted(case) is not None


def test_a_parser_that_raises_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Parser, "_say")
    assert str(fuzz.fault(Case(output="Hi."))).startswith("AttributeError")


def test_a_fault_is_told_with_the_shortest_output_that_shows_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz, "unaccounted", lambda case: "lost" if "<arg" in case.output else None)
    assert fuzz.main(["--seed", "7"]) == 1
    printed = capsys.readouterr()
    case = msgspec.json.decode(printed.out, type=Case)
    assert (case.output, case.why) == ("<arg", "lost")
    assert "seed 7: " in printed.err


def test_the_time_bounds_a_search_without_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--seconds", "0.2"]) == 0
    assert "no fault" in capsys.readouterr().err
