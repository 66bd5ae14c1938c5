from toolcall.cursor import Cursor


def test_what_was_read_behind_the_mark_can_be_read_again() -> None:
    cursor = Cursor()
    cursor.text += "ab[cd"
    cursor.mark(2)
    cursor.at = 5
    cursor.compact()
    cursor.skip("ef")
    cursor.text += "gh"
    cursor.at = 1
    assert (cursor.text, cursor.offset(), cursor.since_mark()) == ("gh", 6, "[cdefgh")
    cursor.seek(6)
    assert cursor.text[cursor.at :] == "h"
    cursor.seek(1)
    assert cursor.text[cursor.at :] == "cdefgh"
    assert cursor.offset() == 1


def test_without_a_mark_what_was_read_is_gone() -> None:
    cursor = Cursor()
    cursor.text += "abc"
    cursor.at = 2
    cursor.compact()
    assert (cursor.text, cursor.at) == ("c", 0)
    cursor.mark(0)
    cursor.unmark()
    cursor.at = 1
    cursor.compact()
    assert cursor.since_mark() == ""
