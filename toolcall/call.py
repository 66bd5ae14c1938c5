"""One call while it is being read: its arguments so far, as values and as JSON text."""

import json
from typing import Any

from toolcall.status import CallStatus
from toolcall.tools import Tool
from toolcall.validator import first_problem
from toolcall.values import Argument, Reading, encode_string, read, undeclared_argument


class Call:
    """The arguments of one call.

    The JSON text of the arguments comes out of `take` in pieces. With several forms of arguments nothing comes before
    the end, because the form that fits decides how each value is read.

    Args:
        name: The tool's name as written.
        tool: The tool of that name, if one was offered.
    """

    def __init__(self, name: str, tool: Tool | None) -> None:
        self.name = name
        self.tool = tool
        self.repairs: list[str] = []
        self._values: dict[str, Any] = {}
        self._raw: dict[str, str] = {}
        self._problems: list[tuple[str, str]] = []
        self._pieces: list[str] = []
        self._streaming = False

    @property
    def keys(self) -> dict[str, Argument]:
        """The declared keys."""
        return self.tool.arguments[0] if self.tool is not None else {}

    @property
    def forms(self) -> int:
        """How many forms the arguments may have."""
        return len(self.tool.forms) if self.tool is not None else 1

    def declares(self, key: str) -> bool:
        """Whether a key is declared in any form."""
        return self.tool is not None and any(key in form for form in self.tool.arguments)

    def argument(self, key: str) -> Argument:
        """How the value of a key is read."""
        return self._argument(key, 0) if self.forms == 1 else self._either(key)

    def begin_text(self, key: str) -> None:
        """Open a string value whose text will come in pieces; only for a new key and a single form."""
        self._pieces.append(f'{self._separator()}{encode_string(key)}: "')
        self._streaming = True

    def add_text(self, text: str) -> None:
        """Add to the open string value."""
        self._pieces.append(encode_string(text)[1:-1])

    def add(self, key: str, raw: str) -> None:
        """Add a complete value, or close the open one, whose whole text is then given."""
        if self._streaming:
            self._streaming = False
            self._pieces.append('"')
            self._values[key] = raw
            return
        if self.forms > 1:
            self._repeat(key, raw, self._raw.get(key))
            self._raw.setdefault(key, raw)
            return
        reading = read(self._argument(key, 0), raw)
        if key in self._values:
            self._repeat(key, reading.value, self._values[key])
            return
        self._put(key, reading)

    def add_read(self, values: dict[str, Any]) -> None:
        """Add complete values that are typed already; only to a call that has none."""
        for key, value in values.items():
            self._put(key, Reading(value, json.dumps(value, ensure_ascii=False)))

    def is_new(self, key: str) -> bool:
        """Whether a key has no value yet."""
        return key not in self._values and key not in self._raw

    def close(self) -> CallStatus:
        """End the call; the rest of its JSON text is then ready."""
        if self.tool is not None and self.forms > 1:
            self._choose_form(self.tool)
        self._pieces.append("}" if self._values else "{}")
        return self._status()

    @property
    def ready(self) -> bool:
        """Whether more of the JSON text has become ready."""
        return bool(self._pieces)

    def take(self) -> str:
        """The JSON text that has become ready."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return text

    def _argument(self, key: str, form: int) -> Argument:
        if self.tool is None:
            return undeclared_argument(None, None, key)
        known = self.tool.arguments[form].get(key)
        return known or undeclared_argument(self.tool.forms[form], self.tool.shape, key)

    def _either(self, key: str) -> Argument:
        """How to find the end of a value that several forms may read differently: as text, unless all want JSON."""
        kinds = [self._argument(key, form) for form in range(self.forms)]
        return next((kind for kind in kinds if kind.kind != "json"), kinds[0])

    def _choose_form(self, tool: Tool) -> None:
        readings: list[dict[str, Reading]] = []
        for form in range(self.forms):
            read_so = {key: read(self._argument(key, form), raw) for key, raw in self._raw.items()}
            readings.append(read_so)
            if tool.validator.is_valid({key: reading.value for key, reading in read_so.items()}):
                readings[0] = read_so
                break
        for key, reading in readings[0].items():
            self._put(key, reading)

    def _put(self, key: str, reading: Reading) -> None:
        self._pieces.append(f"{self._separator()}{encode_string(key)}: {reading.text}")
        self._values[key] = reading.value
        if reading.problem:
            self._problems.append((key, reading.problem))
        if reading.repair:
            self.repairs.append(f"{key}: {reading.repair}")

    def _repeat(self, key: str, value: Any, first: Any) -> None:
        if not self.is_new(key) and value != first:
            self.repairs.append(f"{key}: given twice, the first kept")

    def _separator(self) -> str:
        return ", " if self._values else "{"

    def _status(self) -> CallStatus:
        if self.tool is None:
            return CallStatus("undeclared", f"no tool {self.name!r} was offered")
        problem = first_problem(self.tool.validator, self._values, self._problems)
        if problem is not None:
            return CallStatus("invalid", problem.message, problem.path)
        if self.repairs:
            return CallStatus("recovered", "; ".join(self.repairs))
        return CallStatus("ok")
