import pytest

from toolcall.automaton import lengths
from toolcall.formats import strings
from toolcall.nodes import Text

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


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_format_has_its_syntax(name: str) -> None:
    held = strings(Text(format=name))
    assert held is not None
    assert all(held.matches(text) for text in GOOD[name])
    assert not any(held.matches(text) for text in BAD[name])


def test_a_format_gives_way_to_what_leaves_no_room_for_it() -> None:
    short, some = lengths(0, 3), lengths(1, None)
    assert strings(Text(short, format="date")) == short
    assert strings(Text(some, format="date")) == strings(Text(format="date"))
    assert strings(Text(some, format="uri")) == some
