"""What one prefill rank has computed, by the messages that have come from it."""

from typing import NamedTuple


class Reading(NamedTuple):
    """Of one rank, since somebody listens.

    Attributes:
        computed: New prompt tokens.
        last: Number of the last message that arrived.
        messages: Messages that arrived.
    """

    computed: int = 0
    last: int = 0
    messages: int = 0


def after(reading: Reading, number: int, computed: int) -> Reading:
    """Return a reading after one more message."""
    return Reading(reading.computed + computed, number, reading.messages + 1)


def between(begin: Reading, end: Reading) -> tuple[int, int]:
    """Return the tokens computed between two readings, and the messages in between that did not arrive."""
    return end.computed - begin.computed, (end.last - begin.last) - (end.messages - begin.messages)
