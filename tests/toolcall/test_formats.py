import pytest

from tests.toolcall.glm_matcher import admits, compile_grammar
from toolcall.formats import GRAMMARS

GOOD = {
    "date": ["2026-02-28", "1999-12-31"],
    "time": ["04:05:06", "04:05:06Z", "23:59:60.123+02:00"],
    "date-time": ["2026-02-03T04:05:06Z", "2026-02-03t04:05:06.5-11:30", "2026-02-03 04:05:06"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
}
BAD = {
    "date": ["2026-13-01", "2026-02-32", "26-02-03", "today"],
    "time": ["24:00:00", "4:05", "noon"],
    "date-time": ["2026-02-03", "2026-02-03T04:05"],
    "uuid": ["123e4567", "g23e4567-e89b-12d3-a456-426614174000"],
}


@pytest.mark.parametrize("name", sorted(GRAMMARS))
def test_a_format_has_its_syntax(name: str) -> None:
    grammar = compile_grammar(f"root ::= {GRAMMARS[name]}")
    assert all(admits(grammar, text) for text in GOOD[name])
    assert not any(admits(grammar, text) for text in BAD[name])
