"""Reading one call, from behind its `<tool_call>` to its `</tool_call>`, or finding that it is none.

The grammar, with whitespace allowed between any two parts:

    NAME (<arg_key> KEY </arg_key> <arg_value> VALUE </arg_value>)* </tool_call>

Damage is mended only where one repair is possible, and then only for offered tools and declared keys. So is a JSON
object in the place of the pairs.
"""

import enum
import re
from collections.abc import Callable
from typing import Final

from toolcall import markers as m
from toolcall.call import Call
from toolcall.cursor import Cursor
from toolcall.json_body import JsonBody, body_opening
from toolcall.scan import (
    CUT_MARKERS,
    LONGEST_KEY,
    LONGEST_MARKER,
    LONGEST_NAME,
    is_name,
    marker_at,
    skip_json,
    skip_space,
)
from toolcall.tools import Tool, ToolSet
from toolcall.value_scan import ValueScan
from toolcall.values import JSON_SPACE

_LONGEST_HEAD: Final = 32
"""Characters of a name that are left waiting for the marker behind it."""

_LONGEST_GAP: Final = 128
"""Characters from the end of a value to the next that are left waiting for it."""

_LONGEST_SILENCE: Final = 1024
"""Characters of JSON that are left waiting for its end."""

_PAIR: Final = re.compile(
    rf"([^<]{{1,{LONGEST_KEY - 1}}}+){m.KEY_END}{m.VALUE}([^<]*+){m.VALUE_END}"
    rf"(?:({m.KEY})(?=[^<]{{1,{LONGEST_KEY - 1}}}+{m.KEY_END})|(?={m.CALL_END}))"
)
"""A key and a value that no markup stands in, and that more of the call follows."""

_GAP: Final = re.compile(rf"{m.VALUE_END}{m.KEY}([^<]{{1,{LONGEST_KEY - 1}}}+){m.KEY_END}{m.VALUE}")
"""What stands between two values."""

_END: Final = m.VALUE_END + m.CALL_END
"""What stands behind the last."""


class Outcome(enum.Enum):
    """How far reading came."""

    WAIT = enum.auto()
    """More text is needed."""
    DONE = enum.auto()
    """The call is complete."""
    REFUSED = enum.auto()
    """This is no call."""


class CallReader:
    """Reads one call.

    Args:
        tools: The request's tools.
        in_reasoning: Whether the call stands inside reasoning. There only undamaged calls to offered tools are calls.
        balanced: See `ValueScan`.
        bodies: Whether a JSON object in place of the arguments is looked for.
    """

    def __init__(self, tools: ToolSet, *, in_reasoning: bool, balanced: bool, bodies: bool) -> None:
        self._tools = tools
        self._in_reasoning = in_reasoning
        self._balanced = balanced
        self._bodies = bodies and not in_reasoning
        self._body: JsonBody | None = None
        self._call: Call | None = None
        self._key = ""
        self._value: ValueScan | None = None
        self._value_offset = 0
        self._certain = False
        self._step: Callable[[Cursor], Outcome | None] = self._start

    @property
    def call(self) -> Call:
        """The call; only once its name is known."""
        assert self._call is not None  # noqa: S101 - the steps below set it before any can ask
        return self._call

    @property
    def certain(self) -> bool:
        """Whether this is surely meant as a call, so that it may be announced before its end."""
        return self._certain and not self.call.repairs

    @property
    def in_body(self) -> bool:
        """Whether a JSON object was read in place of the arguments."""
        return self._body is not None

    @property
    def mentioned(self) -> bool:
        """Whether this is more likely talk about a call: it stands in reasoning that ended inside its value."""
        return self._value is not None and self._value.saw_think_end

    def begin_bare(self, name: str) -> None:
        """Start behind the first `<arg_key>` of a call whose `<tool_call>` is missing."""
        self._call = Call(name, self._tools.by_name(name))
        self._call.repairs.append(f"missing {m.CALL}")
        self._step = self._key_text

    def read(self, cursor: Cursor) -> Outcome:
        """Read as far as possible."""
        while True:
            outcome = self._step(cursor)
            if outcome is not None:
                return outcome

    def waits(self, held: str, text: str) -> bool:
        """Whether reading can wait for more, so that the pieces of a marker or key cost little.

        Args:
            held: What is not read yet.
            text: Its newest piece.
        """
        if self._call is None:
            return ">" not in text and len(held) < _LONGEST_HEAD
        if self._value is None or held.startswith(m.VALUE_END):
            whole = ">" in text and (m.VALUE in held or m.CALL_END in held)
            return not whole and len(held) < _LONGEST_GAP and self._body is None
        if self._value.silent and "<" not in text and ">" not in text:
            return len(held) < _LONGEST_SILENCE
        return len(held) < LONGEST_MARKER and held in CUT_MARKERS

    def skip(self, text: str) -> bool:
        """Cross a piece of text without a `<`, if it stands inside a value and nothing before it waits."""
        return self._value is not None and self._value.skip(text)

    def settle(self, cursor: Cursor) -> Outcome:
        """Decide what a call is that the end of the text left open."""
        if self._value is None or self._in_reasoning:
            return Outcome.REFUSED
        length = self._value.fall_back(cursor.text[cursor.at :])
        if length is None:
            return Outcome.REFUSED
        cursor.seek(self._value_offset + length)
        self._balanced = False
        self._end_value(cursor, length)
        return self.read(cursor)

    def _name_known(self, name: str) -> None:
        self._call = Call(name, self._tools.by_name(name))

    def _start(self, cursor: Cursor) -> Outcome | None:
        """The name, and the marker or the JSON object behind it."""
        limit = cursor.at + LONGEST_NAME + LONGEST_KEY
        body = body_opening(cursor.text, cursor.at, limit) if self._bodies else None
        if body is None or self._tools.by_name(body[0]) is None:
            return self._head(cursor)
        self._name_known(body[0])
        cursor.at = body[1]
        self._body, self._step = JsonBody(), self._body_text
        return None

    def _head(self, cursor: Cursor) -> Outcome | None:
        """The name, and the marker behind it."""
        text, start = cursor.text, cursor.at
        limit = start + LONGEST_NAME + LONGEST_KEY
        stop = text.find("<", start, limit)
        said = text[start : limit if stop < 0 else stop]
        marker = "" if stop < 0 else marker_at(text, stop)
        if marker == "":
            waits = not cursor.final and (stop >= 0 or len(text) < limit) and self._may_be_head(said)
            return Outcome.WAIT if waits else Outcome.REFUSED
        name = said.strip()
        tool = self._tools.by_name(name)
        if marker == m.KEY_END:
            return self._missing_key_opener(cursor, said, stop)
        if tool is None and (self._in_reasoning or not is_name(said.rstrip())):
            return Outcome.REFUSED
        self._name_known(name)
        if marker == m.CALL_END:
            cursor.at = stop + len(marker)
            return Outcome.DONE
        if marker == m.KEY:
            self._step = self._key_text
        elif tool is not None and marker == m.CALL:
            self.call.repairs.append(f"{m.CALL} for {m.KEY}")
            self._step = self._key_text
        elif tool is not None and marker == m.VALUE_END:
            self.call.repairs.append(f"stray {m.VALUE_END}")
            self._step = self._after
        else:
            return Outcome.REFUSED
        cursor.at = stop + len(marker or "")
        return None

    def _may_be_head(self, said: str) -> bool:
        """Whether text behind `<tool_call>`, not yet followed by a marker, can still be a name (and a bare key)."""
        text = said.lstrip()
        if not self._in_reasoning and is_name(said.rstrip()):
            return True
        if self._bodies and self._tools.by_name(said.rstrip().removesuffix(">").strip()) is not None:
            return True
        return any(tool.name.startswith(text) or self._may_be_glued(tool, text) for tool in self._tools.tools)

    def _may_be_glued(self, tool: Tool, text: str) -> bool:
        """Whether text is an offered name, or goes on from it into one of its keys."""
        if not text.startswith(tool.name):
            return False
        rest = text[len(tool.name) :].lstrip()
        keys = [] if self._in_reasoning else [key for form in tool.arguments for key in form]
        return not rest or any(key.startswith(rest) or key == rest.rstrip() for key in keys)

    def _body_text(self, cursor: Cursor) -> Outcome | None:
        """A JSON object in place of the arguments, with or without a stray `</arg_value>` behind it."""
        assert self._body is not None  # noqa: S101 - set with this step
        text = cursor.text
        at = cursor.at = self._body.scan(text, cursor.at)
        marker = marker_at(text, at) if text.startswith("<", at) else ""
        if marker == "":
            return Outcome.REFUSED if cursor.final else Outcome.WAIT
        members = self._body.members() if marker in (m.VALUE_END, m.CALL_END) else None
        if members is None or not all(self.call.declares(key) for key in members):
            return Outcome.REFUSED
        self.call.repairs.append("JSON in place of the arguments")
        self.call.add_read(members)
        if marker == m.VALUE_END:
            cursor.at += len(marker)
        self._step = self._body_end
        return None

    def _body_end(self, cursor: Cursor) -> Outcome | None:
        """The end of a call whose arguments were a JSON object."""
        at = skip_space(cursor.text, cursor.at)
        marker = marker_at(cursor.text, at) if at < len(cursor.text) else ""
        if marker == "" and not cursor.final:
            return Outcome.WAIT
        if marker != m.CALL_END:
            return Outcome.REFUSED
        cursor.at = at + len(marker)
        return Outcome.DONE

    def _missing_key_opener(self, cursor: Cursor, said: str, stop: int) -> Outcome | None:
        """`NAME KEY</arg_key>`: the name and the key run together."""
        found = self._glued(said)
        if found is None or self._in_reasoning:
            return Outcome.REFUSED
        name, self._key = found
        self._name_known(name)
        self.call.repairs.append(f"{self._key}: missing {m.KEY}")
        cursor.at = stop + len(m.KEY_END)
        self._step = self._value_opener
        return None

    def _glued(self, said: str) -> tuple[str, str] | None:
        """The one way to part text into an offered name and a key declared for it."""
        text = said.strip()
        found = [
            (tool.name, text[len(tool.name) :].strip())
            for tool in self._tools.tools
            if text.startswith(tool.name) and any(text[len(tool.name) :].strip() in form for form in tool.arguments)
        ]
        return found[0] if len(found) == 1 else None

    def _key_text(self, cursor: Cursor) -> Outcome | None:
        """The key and its `</arg_key>`."""
        text, start = cursor.text, cursor.at
        pair = _PAIR.match(text, start)
        if pair is not None and self._whole_pair(*pair.groups()):
            cursor.at = pair.end()
            return None
        stop = text.find("<", start, start + LONGEST_KEY + 1)
        if stop < 0:
            return Outcome.REFUSED if cursor.final or len(text) - start > LONGEST_KEY else Outcome.WAIT
        marker = marker_at(text, stop)
        if marker == "":
            return Outcome.REFUSED if cursor.final else Outcome.WAIT
        key = text[start:stop]
        self._key = key if self.call.declares(key) else key.strip(JSON_SPACE)
        if marker == m.VALUE and self.call.declares(self._key):
            self.call.repairs.append(f"{self._key}: missing {m.KEY_END}")
            cursor.at = stop
        elif marker == m.KEY_END and self._key:
            cursor.at = stop + len(marker)
        else:
            return Outcome.REFUSED
        if self.call.repairs and not self.call.declares(self._key):
            return Outcome.REFUSED
        self._step = self._value_opener
        return None

    def _whole_pair(self, key: str, value: str, following: str | None) -> bool:
        """Take a key and a value without any `<`, which are most; false when they need a closer look."""
        call = self.call
        if call.repairs or not call.declares(key):
            return False
        if call.argument(key).kind == "json" and skip_json(value, 0, inside=False) != (len(value), False):
            return False
        self._certain = call.forms == 1 and not self._in_reasoning
        call.add(key, value)
        if following is None:
            self._step = self._after
        return True

    def _value_opener(self, cursor: Cursor) -> Outcome | None:
        """The `<arg_value>`."""
        at = skip_space(cursor.text, cursor.at)
        marker = marker_at(cursor.text, at) if at < len(cursor.text) else ""
        if marker == "":
            return Outcome.REFUSED if cursor.final else Outcome.WAIT
        if marker == m.VALUE:
            cursor.at = at + len(marker)
            self._certain = self.call.tool is not None and not self._in_reasoning and self.call.forms == 1
        elif marker in (None, m.VALUE_END) and self.call.declares(self._key):
            self.call.repairs.append(f"{self._key}: missing {m.VALUE}")
            cursor.at = at if cursor.text[cursor.at : at].startswith("\n") else cursor.at
        else:
            return Outcome.REFUSED
        self._open_value(cursor, unopened=marker != m.VALUE)
        return None

    def _open_value(self, cursor: Cursor, *, unopened: bool) -> None:
        self._value_offset = cursor.offset()
        self._value = ValueScan(
            self.call,
            self._key,
            self.call.argument(self._key),
            stream=self.call.forms == 1 and self.call.is_new(self._key),
            balanced=self._balanced,
            in_reasoning=self._in_reasoning,
            unopened=unopened,
        )
        self._step = self._value_text

    def _value_text(self, cursor: Cursor) -> Outcome | None:
        """The value."""
        assert self._value is not None  # noqa: S101 - set with this step
        gap = _GAP.match(cursor.text, cursor.at) if self._value.may_end else None
        if gap is not None and self.call.declares(gap.group(1)):
            self._value.end()
            self._key, cursor.at = gap.group(1), gap.end()
            self._open_value(cursor, unopened=False)
            return None
        if self._value.may_end and cursor.text.startswith(_END, cursor.at) and not self._in_reasoning:
            self._value.end()
            self._value = None
            cursor.at += len(_END)
            return Outcome.DONE
        cursor.at, ended = self._value.scan(cursor.text, cursor.at, final=cursor.final)
        if self._value.refused:
            return Outcome.REFUSED
        if not ended:
            return Outcome.WAIT
        self._end_value(cursor, None)
        return None

    def _end_value(self, cursor: Cursor, length: int | None) -> None:
        assert self._value is not None  # noqa: S101 - only called while a value is open
        self._value.end(length)
        self._value = None
        if cursor.text.startswith(m.VALUE_END, cursor.at):
            cursor.at += len(m.VALUE_END)
        self._step = self._after

    def _after(self, cursor: Cursor) -> Outcome | None:
        """What stands between two values: the next key, or the end of the call."""
        at = skip_space(cursor.text, cursor.at)
        marker = marker_at(cursor.text, at) if at < len(cursor.text) else ""
        if marker == "":
            return Outcome.REFUSED if cursor.final else Outcome.WAIT
        if marker == m.CALL_END:
            cursor.at = at + len(marker)
            return Outcome.REFUSED if self._in_reasoning and self.call.repairs else Outcome.DONE
        if marker == m.KEY:
            cursor.at = at + len(marker)
            self._step = self._key_text
            return None
        if marker is not None:
            return Outcome.REFUSED
        self.call.repairs.append(f"missing {m.KEY}")
        cursor.at = at
        self._step = self._key_text
        return None
