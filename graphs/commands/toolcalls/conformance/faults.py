"""What a wrong reading does to an agent: the faults that are counted over all classes."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from toolcall import markers
from toolcall.conformance import Case, ExpectedCall, ReadCall, Reading, arguments_of

LOST: Final = "a call lost"
MADE_UP: Final = "a call made up"
EMPTIED: Final = "arguments lost, `{}`"
INVALID_JSON: Final = "arguments not JSON"
MARKUP: Final = "markup in a name"
NOTHING: Final = "nothing returned"

FAULTS: Final = (LOST, MADE_UP, EMPTIED, INVALID_JSON, MARKUP, NOTHING)


def faults(case: Case, reading: Reading) -> tuple[str, ...]:
    """Return the faults of a reading.

    - A call lost, or made up: fewer calls than there are, or more; a call that the limit cut is none.
    - Arguments lost: a call has none where the output has some.
    - Arguments not JSON: they are not one JSON object, or repeat a key.
    - Markup in a name: a marker of the wire format stands in a tool's name.
    - Nothing returned: neither a call nor content, where there is one.
    """
    found = reading.tool_calls
    due: Sequence[ExpectedCall] | None = None if case.expect.tool_calls is UNSET else case.expect.tool_calls
    tests = {
        LOST: due is not None and len(found) < len(due),
        MADE_UP: due is not None and len(found) > len(due),
        EMPTIED: any(map(_emptied, due or (), found)),
        INVALID_JSON: any(arguments_of(call) is None for call in found),
        MARKUP: any(marker in call.name for call in found for marker in markers.ALL),
        NOTHING: not found and not reading.content.strip() and (bool(due) or _has_content(case)),
    }
    return tuple(name for name in FAULTS if tests[name])


def _emptied(due: ExpectedCall, found: ReadCall) -> bool:
    return due.name == found.name and bool(due.arguments) and arguments_of(found) == {}


def _has_content(case: Case) -> bool:
    content = case.expect.content
    return isinstance(content, str) and bool(content.strip())
