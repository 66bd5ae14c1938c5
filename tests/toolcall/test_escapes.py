import json

import pytest

from tests.toolcall.glm_matcher import admits, compile_grammar
from toolcall import charset as c
from toolcall.escapes import code_units


@pytest.mark.parametrize(
    "ranges",
    [
        ((0x61, 0x7A),), ((0, 0x1F),), ((0x1234, 0x5678),), ((0xD000, 0xE0FF),), ((0x1F600, 0x1F64F),),
        ((0x10000, 0x10FFFF),), ((0x103FE, 0x10801),), c.of("é😀"), c.ALL,
    ],
)  # fmt: skip
def test_escapes_are_those_of_the_characters(ranges: c.Ranges) -> None:
    grammar = compile_grammar(f'root ::= "\\\\u" ({" | ".join(code_units(ranges))})')
    edges = {at + by for low, high in ranges for at in (low, high) for by in (-1, 0, 1)}
    for code in {at for at in edges if 0 <= at <= c.LAST} - set(range(0xD800, 0xE000)):
        escape = rf"\u{code:04x}" if code < 0x10000 else json.dumps(chr(code))[1:-1]
        expected = any(low <= code <= high for low, high in ranges)
        assert admits(grammar, escape) == admits(grammar, escape.upper().replace(r"\U", r"\u")) == expected, escape


def test_half_a_surrogate_pair_is_no_character() -> None:
    grammar = compile_grammar(f'root ::= "\\\\u" ({" | ".join(code_units(c.ALL))})')
    assert not any(
        admits(grammar, text) for text in (r"\ud83d", r"\ude00", r"\ud83dx", r"\ud83d\u0061", r"\ude00\ud83d")
    )
