"""The `format` keywords whose syntax the tag holds the model to.

Those of RFC 3339 and RFC 4122 that admit no doubt. A time without an offset passes, because many clients send and
expect local times under `date-time`. All other formats are annotations, as in JSON Schema Draft 7.
"""

from typing import Final

from toolcall.automaton import Automaton, TooLargeError, both
from toolcall.nodes import Text
from toolcall.patterns import automaton

_DATE: Final = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TIME: Final = r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?([zZ]|[+-]([01]\d|2[0-3]):[0-5]\d)?"
_HEX: Final = "[0-9a-fA-F]"

PATTERNS: Final = {
    "date": f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "date-time": f"^{_DATE}[tT ]{_TIME}$",
    "uuid": f"^{_HEX}{{8}}(-{_HEX}{{4}}){{3}}-{_HEX}{{12}}$",
}
"""By format, a regular expression of its strings."""


def strings(node: Text) -> Automaton | None:
    """The strings of a text; None for any.

    A format is an annotation, so it gives way where lengths and patterns leave no room for it.
    """
    pattern = PATTERNS.get(node.format or "")
    if pattern is None or node.strings is None:
        return automaton(pattern) if pattern else node.strings
    try:
        return both(node.strings, automaton(pattern) or node.strings) or node.strings
    except TooLargeError:
        return node.strings
