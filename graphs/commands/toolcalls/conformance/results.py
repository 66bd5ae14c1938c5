"""How a parser's readings are judged, and what they add up to."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from components.peers.protocol import Answer
from graphs.commands.toolcalls.conformance.faults import FAULTS, faults
from toolcall.conformance import Case, Expectation, ExpectedCall, Reading, arguments_of, differences


class Outcome(msgspec.Struct, frozen=True):
    """One reading of a case, judged.

    Attributes:
        cut: How the output came: `whole`, `chars`, or a seed.
        wrong: The expected fields that it misses; all that is expected where there is no reading.
        faults: What that does to an agent, see `faults`.
        error: Why there is no reading.
    """

    cut: str
    wrong: tuple[str, ...]
    faults: tuple[str, ...]
    reading: Reading | None
    error: str | None

    @property
    def right(self) -> bool:
        """Whether every expected field is right."""
        return not self.wrong

    @property
    def calls_right(self) -> bool:
        """Whether the calls are, whatever else is not."""
        return "tool_calls" not in self.wrong


class Result(msgspec.Struct, frozen=True):
    """A case as a parser read it.

    Attributes:
        streamed: The output in small pieces.
        agree: Whether whole and in pieces it was read the same.
    """

    id: str
    kind: str
    whole: Outcome
    streamed: Outcome
    agree: bool


class Score(msgspec.Struct, frozen=True):
    """How many cases came out how; pairs are whole and streamed."""

    cases: int
    right: tuple[int, int]
    calls_right: tuple[int, int]
    faults: dict[str, tuple[int, int]]
    errors: tuple[int, int]
    modes_differ: int


class Parser(msgspec.Struct, frozen=True):
    """A parser and its results, one a case."""

    name: str
    version: str
    results: tuple[Result, ...]

    def score(self, kind: str | None = None) -> Score:
        """Count the cases of a fault class, or all."""
        return _score([result for result in self.results if kind in {None, result.kind}])

    def plain(self) -> dict[str, Any]:
        """Return scores and results as JSON's types."""
        kinds = {kind: self.score(kind) for kind in kinds_of(self.results)}
        plain: dict[str, Any] = msgspec.to_builtins(
            {"name": self.name, "version": self.version, "all": self.score(), "kinds": kinds, "results": self.results}
        )
        return plain


def judge(case: Case, answer: Answer, cut: str) -> Outcome:
    """Judge what a parser made of a case."""
    if answer.reading is None:
        expected = (name for name in case.expect.__struct_fields__ if getattr(case.expect, name) is not UNSET)
        return Outcome(cut, tuple(expected) or ("reading",), (), None, answer.error or "no reading")
    wrong = tuple(differences(case, answer.reading))
    return Outcome(cut, wrong, faults(case, answer.reading), answer.reading, None)


def result(case: Case, whole: Answer, streamed: Answer) -> Result:
    """Judge a case read whole and a character or token at a time."""
    pair = judge(case, whole, "whole"), judge(case, streamed, "chars")
    return Result(case.id, case.kind, *pair, agree=_agree(case, whole, streamed))


def _agree(case: Case, whole: Answer, streamed: Answer) -> bool:
    """Whether two answers are the same by the suite's own rules, which pass over whitespace around calls."""
    if whole.reading is None or streamed.reading is None or whole.reading == streamed.reading:
        return whole.reading == streamed.reading
    calls = [(call.name, arguments_of(call)) for call in whole.reading.tool_calls]
    same = Expectation(
        reasoning=whole.reading.reasoning,
        content=whole.reading.content,
        # Arguments that cannot be read are the same only where everything is, which was asked above.
        tool_calls=tuple(ExpectedCall(name, arguments or {}) for name, arguments in calls),
        finish_reason=whole.reading.finish_reason or UNSET,
    )
    readable = all(arguments is not None for _, arguments in calls)
    return readable and not differences(msgspec.structs.replace(case, expect=same), streamed.reading)


def kinds_of(results: Iterable[Result]) -> list[str]:
    """Return the fault classes, in the order in which they first come."""
    return list(dict.fromkeys(each.kind for each in results))


def _score(results: list[Result]) -> Score:
    pairs = [(each.whole, each.streamed) for each in results]

    def count(holds: Callable[[Outcome], bool]) -> tuple[int, int]:
        return sum(holds(whole) for whole, _ in pairs), sum(holds(streamed) for _, streamed in pairs)

    return Score(
        cases=len(results),
        right=count(lambda each: each.right),
        calls_right=count(lambda each: each.calls_right),
        faults={fault: count(_has(fault)) for fault in FAULTS},
        errors=count(lambda each: each.error is not None),
        modes_differ=sum(not each.agree for each in results),
    )


def _has(fault: str) -> Callable[[Outcome], bool]:
    return lambda outcome: fault in outcome.faults
