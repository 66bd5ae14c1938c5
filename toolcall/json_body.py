"""A JSON object where a call's arguments belong, `NAME{…}` or `NAME>{…}`: GLM slips into it at times."""

import re
from typing import Any, Final

from toolcall.scan import LONGEST_NAME, skip_json
from toolcall.values import decode

_OPENING: Final = re.compile(rf"\s*+([^\s<>{{]{{1,{LONGEST_NAME}}}+)\s*+>?\s*+(?=\{{)")


def body_opening(text: str, start: int, limit: int) -> tuple[str, int] | None:
    """The name in front of a JSON object, and where the object begins; None when none stands here, or not yet.

    Args:
        text: The text.
        start: Where the name is looked for.
        limit: Where the object must have begun.
    """
    found = _OPENING.match(text, start, limit)
    return (found.group(1), found.end()) if found else None


class JsonBody:
    """The object, up to the first `<` outside its strings."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._inside = False

    def scan(self, text: str, at: int) -> int:
        """Cross more of it; where it stopped is its end only if a `<` stands there."""
        stop, self._inside = skip_json(text, at, inside=self._inside)
        self._pieces.append(text[at:stop])
        return stop

    def members(self) -> dict[str, Any] | None:
        """The members of the object; None when it is no undamaged JSON object."""
        found = decode("".join(self._pieces))
        return found.value if found is not None and isinstance(found.value, dict) and not found.repair else None
