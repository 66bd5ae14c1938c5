import contextlib

import jsonschema_rs
import pytest

from tests.conformance.cases import seeded
from tests.toolcall.generated import PATTERNS
from toolcall.automaton import TooLargeError
from toolcall.expression import read
from toolcall.patterns import automaton
from toolcall.regular import searched

MORE = (
    "a|^b$", "(^a|b)c", "a^b|c", "a$|^$", r"[\d.-]x", "(a*)*b$", "(a|ab)(c|bcd)$", "^(?:[a-z]+,)*[a-z]+$", "x{0}$",
    "(^|/)a",
)  # fmt: skip


def readable() -> list[str]:
    found: list[str] = []
    for pattern in (*PATTERNS, *MORE):
        with contextlib.suppress(ValueError):
            automaton(pattern)
            found.append(pattern)
    return found


@pytest.mark.parametrize("pattern", readable())
def test_an_automaton_admits_what_the_validator_does(pattern: str) -> None:
    held, rng = searched(read(pattern)), seeded(pattern)
    judge = jsonschema_rs.Draft7Validator({"pattern": pattern})
    for _ in range(400):
        text = "".join(rng.choices('abcdxyz09AZ-_<>/\\"@., \n\r\té\xa0\u2028北😀', k=rng.randrange(7)))
        assert (held is not None and held.matches(text)) == judge.is_valid(text), text


def test_a_pattern_that_matches_nothing_has_no_automaton() -> None:
    assert searched(read("a^b")) is None
    assert searched(read("[]")) is None


def test_repetitions_without_measure_are_too_large() -> None:
    for pattern in ("^(a{100}){100}$", "^[ab]{999}$", "a.{40}$"):
        with pytest.raises(TooLargeError):
            searched(read(pattern))
