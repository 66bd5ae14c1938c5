"""Stop strings in a stream."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.frontend.stop import StopStrings


def run(stops: StopStrings, chunks: list[str]) -> str:
    return "".join([*(stops.feed(chunk) for chunk in chunks), stops.finish()])


def test_text_without_stop_strings_passes_at_once() -> None:
    assert StopStrings([]).feed("anything") == "anything"


@pytest.mark.parametrize("chunks", [["one END two"], ["one E", "N", "D two"], list("one END two")])
def test_a_stop_string_ends_the_text_however_it_is_cut(chunks: list[str]) -> None:
    stops = StopStrings(["END"])

    assert run(stops, chunks) == "one "
    assert stops.matched == "END"


def test_a_beginning_that_comes_to_nothing_is_text() -> None:
    stops = StopStrings(["END"])

    assert stops.feed("the E") == "the "
    assert stops.feed("Nough") == "ENough"
    assert run(stops, ["EN"]) == "EN"


@pytest.mark.parametrize("cut", range(6))
def test_the_stop_string_that_is_complete_first_wins_and_then_the_longest(cut: int) -> None:
    stops = StopStrings(["abc", "ab", "b"])

    assert run(stops, ["xxabc"[:cut], "xxabc"[cut:]]) == "xx"
    assert stops.matched == "ab"


def test_the_stop_string_is_kept_when_asked_for() -> None:
    assert run(StopStrings(["END"], include=True), ["one EN", "D two"]) == "one END"


def test_nothing_follows_a_match() -> None:
    assert run(StopStrings(["x"]), ["ax", "b", "c"]) == "a"


def test_empty_stop_strings_are_no_stop_strings() -> None:
    assert not StopStrings([""])
    assert StopStrings(["a"])
    assert run(StopStrings([""]), ["abc"]) == "abc"


@given(text=st.text("ab", max_size=20), stops=st.lists(st.text("ab", max_size=4), max_size=3), data=st.data())
def test_chunking_never_changes_where_the_text_ends(text: str, stops: list[str], data: st.DataObject) -> None:
    found = [(at + len(stop), at) for stop in stops if stop and (at := text.find(stop)) >= 0]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edges = [0, *cuts, len(text)]
    chunks = [text[start:end] for start, end in pairwise(edges)]

    _, end = min(found, default=(0, len(text)))
    assert run(StopStrings(stops), chunks) == text[:end]
