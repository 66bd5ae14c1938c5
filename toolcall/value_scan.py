"""Finding the end of a value, wherever the text is cut and whatever markup the value holds."""

import re
from typing import Final

from toolcall import markers as m
from toolcall.call import Call
from toolcall.scan import VALUE_MARKS, Found, after_value, cut_marker, marker_at, nested_call, skip_json
from toolcall.values import Argument

_UNDECIDED: Final = 64
"""Characters after which a value that may be null, true or false is surely something else."""

_CLOSED: Final = re.compile(m.VALUE_END)


class ValueScan:
    """One value, from behind its `<arg_value>` to its end.

    A `</arg_value>` ends the value only where structure follows. A whole call quoted inside the value is skipped in
    balance with its own end tags; should the text end before the balance is restored, `fall_back` finds the end that
    balance hid.

    Args:
        call: The call; its declared keys help to recognise what follows.
        key: The value's key.
        argument: How the value is read.
        stream: Whether a string may be handed on before its end is known.
        balanced: Whether quoted calls are skipped in balance and JSON strings are crossed whole.
        in_reasoning: Whether the call began inside reasoning, where `</think>` may mean that it was only mentioned.
        unopened: Whether the `<arg_value>` is missing; markup in such a value is one repair too many.

    Attributes:
        refused: Whether this cannot be the value of a call.
        saw_think_end: Whether reasoning may have ended inside the value.
    """

    def __init__(
        self,
        call: Call,
        key: str,
        argument: Argument,
        *,
        stream: bool,
        balanced: bool,
        in_reasoning: bool,
        unopened: bool,
    ) -> None:
        self.key = key
        self.refused = False
        self.saw_think_end = False
        self._call = call
        self._argument = argument
        self._balanced = balanced
        self._in_reasoning = in_reasoning
        self._unopened = unopened
        self._json = argument.kind == "json" and balanced
        self._inside = False
        self._depth = 0
        self._pieces: list[str] = []
        self._length = 0
        self._may_stream = stream
        self._open = False
        self._sent = 0
        if stream and argument.kind == "text":
            self._begin()

    @property
    def silent(self) -> bool:
        """Whether nothing of the value is handed on before its end."""
        return self._json

    @property
    def may_end(self) -> bool:
        """Whether a `</arg_value>` that a key or the end of the call follows would end it here."""
        return not self._depth and not self._inside

    def text(self) -> str:
        """The value so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def scan(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        """Cross more of the value.

        Args:
            text: The text.
            at: Where to go on.
            final: No more text will come.

        Returns:
            How far it was crossed, and whether that is the end of the value.
        """
        return self._scan_json(text, at, final=final) if self._json else self._scan_text(text, at, final=final)

    def _scan_text(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        while True:
            mark = VALUE_MARKS.search(text, at)
            if mark is None:
                stop = len(text) if final else cut_marker(text, at)
                self._add(text[at:stop])
                return stop, False
            self._add(text[at : mark.start()])
            at = mark.start()
            stop = self._mark(text, at, mark.group(), final=final)
            if stop < 0 or self.refused:
                return at, False
            if stop == at:
                return at, True
            self._add(text[at:stop])
            at = stop

    def _mark(self, text: str, at: int, marker: str, *, final: bool) -> int:
        """Where a marker inside the value ends; its own position when it ends the value, -1 when it is too soon."""
        end = at + len(marker)
        if marker == m.VALUE_END:
            found = after_value(text, end, self._call.keys, final=final)
            if found is Found.UNKNOWN:
                return -1
            if found is not Found.OTHER and not self._depth:
                return at
            self._inner_end(found)
        if self._unopened:
            self.refused = True
        elif marker == m.CALL:
            return self._inner_call(text, at, final=final)
        elif marker == m.CALL_END:
            self._hold()
        elif marker == m.THINK_END and self._in_reasoning:
            self.saw_think_end = True
        return end

    def _inner_end(self, found: Found) -> None:
        """Pass a `</arg_value>` that belongs to the value."""
        if found is not Found.OTHER:
            self._hold()
            self._depth -= found is Found.END

    def _inner_call(self, text: str, at: int, *, final: bool) -> int:
        """Where a `<tool_call>` inside the value ends, with what follows if a whole call begins there."""
        nested = nested_call(text, at, final=final) if self._balanced else -1
        if nested is None:
            return -1
        if nested < 0:
            return at + len(m.CALL)
        self._depth += 1
        self.refused = self.saw_think_end
        return nested

    def skip(self, text: str) -> bool:
        """Cross a piece of text without a `<` at once; false when it must be scanned after all."""
        if self._json:
            if text.endswith("\\"):
                return False
            _, self._inside = skip_json(text, 0, inside=self._inside)
        self._add(text)
        return True

    def _scan_json(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        while True:
            stop, self._inside = skip_json(text, at, inside=self._inside)
            self._add(text[at:stop])
            at = stop
            if at == len(text) or text[at] != "<":
                return at, False
            marker = marker_at(text, at)
            if marker == "" and not final:
                return at, False
            if marker == m.VALUE_END:
                found = after_value(text, at + len(marker), self._call.keys, final=final)
                if found is Found.UNKNOWN:
                    return at, False
                if found is not Found.OTHER:
                    return at, True
            elif marker in (m.KEY, m.CALL_END) and self.text().strip():
                # No JSON holds a bare `<`, so the value must have ended here.
                self._call.repairs.append(f"{self.key}: missing {m.VALUE_END}")
                return at, True
            self._add("<")
            at += 1

    def fall_back(self, rest: str) -> int | None:
        """Find the end that was passed over, now that the text has ended.

        Args:
            rest: The text behind what was crossed.

        Returns:
            Where the value ends in all its text; None when it has no end.
        """
        whole = self.text() + rest
        for closed in _CLOSED.finditer(whole):
            if after_value(whole, closed.end(), self._call.keys, final=True) is not Found.OTHER:
                return closed.start()
        at = whole.find(m.CALL_END)
        if at < 0 or m.VALUE_END in whole or VALUE_MARKS.search(whole, 0, at) or not self._call.declares(self.key):
            return None
        self._call.repairs.append(f"{self.key}: missing {m.VALUE_END}")
        return at

    def end(self, length: int | None = None) -> None:
        """Hand the finished value to its call; only its first `length` characters where it fell back."""
        value = self.text()[:length]
        if self._open:
            self._call.add_text(value[self._sent :])
        self._call.add(self.key, value)

    def _begin(self) -> None:
        self._call.begin_text(self.key)
        self._open = True

    def _hold(self) -> None:
        """Keep back what comes: should the text end too early, it lies behind the end of the value."""
        self._may_stream = False

    def _add(self, text: str) -> None:
        if not text:
            return
        self._pieces.append(text)
        self._length += len(text)
        if not self._may_stream or self._json:
            return
        if self._open:
            self._call.add_text(text)
            self._sent = self._length
        elif self._argument.kind == "either" and self._length - len(text) < _UNDECIDED:
            start = self.text()
            if self._argument.surely_text(start):
                self._begin()
                self._call.add_text(start)
                self._sent = self._length
