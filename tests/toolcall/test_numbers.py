import itertools
import json

import pytest
import xgrammar
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcall.glm_matcher import admits as grammar_admits
from tests.toolcall.glm_matcher import compile_grammar
from toolcall.admit import admits
from toolcall.nodes import Number
from toolcall.numbers import RULES, is_empty, multiples, number

WHOLE = [0, 1, -1, 5, 9, 10, 99, 100, 255, 1000, 65535, -7, -40, -100, 123456, 10**17]
FRACTIONS = [0.1, 0.5, -0.5, 0.05, 2.5, 1e-6, 3.2e-9, -2.75, 0.999, 99.995, 12.000001]
BOUNDS = st.none() | st.sampled_from([*WHOLE, *FRACTIONS])


def grammar_of(node: Number) -> xgrammar.CompiledGrammar:
    return compile_grammar(
        "\n".join([f"root ::= {number(node)}", *(f"{name} ::= {body}" for name, body in RULES.items())])
    )


def around(node: Number) -> list[float]:
    bases = {0, 10, 1000, *(bound for bound in (node.low, node.high) if bound is not None)}
    steps = (0, 1, -1, 9, -9, 90, 0.5, -0.5, 0.25, 0.03, -0.03, 1e-5, -1e-5, 12345)
    values: list[float] = [base + step for base, step in itertools.product(bases, steps)]
    return [*values, 0.0, -0.0, 1e-7, -1e-7, 1e16, -1e16, 2.5e300, 10**25]


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.booleans(), BOUNDS, BOUNDS, st.booleans(), st.booleans())
def test_a_grammar_admits_exactly_the_numbers_in_range(
    integer: bool, low: float | None, high: float | None, open_low: bool, open_high: bool
) -> None:
    node = Number(integer, low, high, open_low and low is not None, open_high and high is not None)
    if is_empty(node):
        return
    grammar = grammar_of(node)
    for value in around(node):
        if integer and not float(value).is_integer():
            assert not grammar_admits(grammar, json.dumps(value))
            continue
        if integer and abs(value) > 1e39:
            # More digits than a run may have.
            continue
        written = json.dumps(int(value) if integer else value)
        assert grammar_admits(grammar, written) == admits({}, node, value), (node, written)


@pytest.mark.parametrize(
    "bad", ["042", "1.", ".5", "+1", "--1", "1e", "NaN", "Infinity", "0x1", "1_000", "", " 1", "1e999"]
)
def test_what_is_no_json_number_is_refused(bad: str) -> None:
    assert not grammar_admits(grammar_of(Number()), bad)


@pytest.mark.parametrize("good", ["0", "-0", "1.50", "1e3", "1E+05", "5e-324", "1.7976931348623157e+308", "9" * 30])
def test_any_number_of_json_within_a_double_is_admitted(good: str) -> None:
    assert grammar_admits(grammar_of(Number()), good)


def test_a_run_of_digits_has_an_end() -> None:
    assert not grammar_admits(grammar_of(Number(integer=True)), "1" * 100)


@pytest.mark.parametrize(
    ("node", "admitted", "refused"),
    [
        (Number(low=0.1, high=1), ["0.1", "0.10", "0.15", "1", "1.00", "9E-1", "1e-1"], ["0", "0.09", "1.01", "4E-29"]),
        (Number(low=0.5, high=2.5), ["0.5", "0.51", "2", "2.5", "2.49"], ["0.1", "0.499", "2.51", "2.9", "3", "-0.5"]),
        (Number(low=2.25, high=2.5, open_high=True), ["2.25", "2.3", "2.4999"], ["2.2", "2.249", "2.5", "2.50", "2"]),
        (Number(low=0, high=0.5, open_low=True), ["0.5", "0.01", "1e-7", "5E-1"], ["0", "0.0", "0.51", "6E-1", "9e-1"]),
        (Number(low=1e-6, high=1e-3), ["1e-06", "2.5e-4", "0.001", "0.00025"], ["9e-7", "0.0000009", "0.0011", "2e-3"]),
        (Number(low=-0.5, high=-0.25), ["-0.5", "-0.3", "-0.25"], ["-0.51", "-0.2", "0.3", "-3"]),
        (Number(low=0, high=1e18), ["1e16", "9.99e17", "1e18"], ["1.1e18", "1e19", "1e300"]),
    ],
)
def test_bounds_with_fractions_and_exponents_are_exact(node: Number, admitted: list[str], refused: list[str]) -> None:
    grammar = grammar_of(node)
    assert [text for text in admitted if not grammar_admits(grammar, text)] == []
    assert [text for text in refused if grammar_admits(grammar, text)] == []


@pytest.mark.parametrize(
    ("node", "empty"),
    [
        (Number(low=1, high=1), False),
        (Number(low=1, high=1, open_low=True), True),
        (Number(low=2, high=1), True),
        (Number(integer=True, low=0.2, high=0.8), True),
        (Number(integer=True, low=0, high=1, open_low=True, open_high=True), True),
        (Number(low=0, high=1, open_low=True, open_high=True), False),
    ],
)
def test_bounds_may_leave_nothing(node: Number, empty: bool) -> None:
    assert is_empty(node) is empty


def test_multiples_are_written_out_where_they_are_few_and_whole() -> None:
    between = Number(integer=True, low=-6, high=11, open_high=True)
    assert multiples(between, 5, 9) == (-5, 0, 5, 10)
    assert multiples(between, 5.0, 9) == (-5, 0, 5, 10)
    assert multiples(between, 50, 9) == (0,)
    assert multiples(Number(integer=True, low=1, high=3), 5, 9) == ()
    assert multiples(between, 1, 9) is None
    assert multiples(between, 0.5, 9) is None
    assert multiples(Number(low=0, high=9), 5, 9) is None
    assert multiples(Number(integer=True, low=0), 5, 9) is None
