from hypothesis import given
from hypothesis import strategies as st

from graphs.supervisor.lines import LONGEST, LineSplitter


def split(*chunks: bytes) -> list[str]:
    splitter = LineSplitter()
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.flush()


@given(st.lists(st.sampled_from(["a", "é", "漢", "🙂", "\n", "\r\n", "\r", "", "word "])), st.integers(1, 7))
def test_every_chunking_gives_the_same_lines(pieces: list[str], size: int) -> None:
    data = "".join(pieces).encode()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert split(*chunks) == split(data)


def test_an_end_of_line_may_be_of_any_system_and_empty_lines_count() -> None:
    assert split(b"one\ntwo\r\n\nthree") == ["one", "two", "", "three"]


def test_each_state_of_a_progress_bar_is_a_line() -> None:
    assert split(b"10%\r20%\r30%\r", b"done\n") == ["10%", "20%", "30%", "done"]


def test_a_line_without_an_end_is_given_in_pieces_as_it_grows() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"x" * LONGEST) == []
    assert splitter.feed(b"y" * LONGEST) == ["x" * LONGEST]
    assert splitter.feed(b"z\n") == ["y" * LONGEST, "z"]
    assert splitter.flush() == []


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_kept() -> None:
    assert split(b"a\xff\xfeb\n") == ["a��b"]
    assert split("é".encode()[:1]) == ["�"]
