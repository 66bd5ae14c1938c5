"""Reading GLM's output: one incremental machine for streamed and whole answers."""

from typing import Final

from toolcall import markers as m
from toolcall.call_reader import CallReader, Outcome
from toolcall.cursor import Cursor
from toolcall.fence import CodeTracker
from toolcall.outbox import Outbox
from toolcall.scan import CUT_MARKERS, LONGEST_NAME, TEXT_MARKS, cut_marker, marker_at
from toolcall.status import ContentDelta, Event, Message, ReasoningDelta, collect
from toolcall.tools import ToolSet

_SECOND_READINGS: Final = 16
"""Most times that text is read again once it has ended, so that no text takes more than linear time."""

_BODIES: Final = 16
"""Most JSON objects in place of arguments that are looked into in vain, for the same reason."""

_LONGEST_BLANK: Final = 1024
"""Most characters of whitespace that are kept back as layout."""

_NORMAL_ENDS: Final = frozenset({"stop", "eos", "tool_calls"})


class Parser:
    """Reads one answer.

    Feed it text in any pieces, then call `finish`; the events add up to the same message for every way of cutting.

    Args:
        tools: The request's tools.
        reasoning: Whether the prompt opened `<think>`, so that the output starts inside reasoning.

    Attributes:
        finish_reason: After `finish`: `tool_calls`, `stop`, `length` or the engine's own.
        truncated: After `finish`: the raw text of a call that the engine cut, else None.
        dropped: Calls behind the first, left out because the request allows only one.
    """

    def __init__(self, tools: ToolSet, *, reasoning: bool) -> None:
        self.finish_reason = ""
        self.truncated: str | None = None
        self.dropped = 0
        self._tools = tools
        self._calling = tools.choice.mode != "none"
        self._cursor = Cursor()
        self._out = Outbox()
        self._reasoning = reasoning
        # Nothing but whitespace has been said since the answer, its reasoning or its last call began or ended.
        self._fresh = True
        self._blank = ""
        # A call ended the reasoning before `</think>` did.
        self._think_open = False
        self._code = CodeTracker()
        self._reader: CallReader | None = None
        self._opener = ""
        self._balanced = True
        self._bodies = _BODIES
        self._announced = False
        self._index = -1
        self._ended = 0

    def feed(self, text: str) -> list[Event]:
        """Read more text; returns what has become certain."""
        cursor = self._cursor
        held = cursor.text + text
        waits = held in CUT_MARKERS if self._reader is None else self._reader.waits(held, text)
        if waits:
            cursor.text = held
            return []
        if "<" not in held and self._skip(held):
            cursor.text = ""
            return self._out.take()
        cursor.text = held
        self._run()
        cursor.compact()
        return self._out.take()

    def finish(self, engine_finish: str) -> list[Event]:
        """Read the end of the text.

        Args:
            engine_finish: The engine's own finish reason.
        """
        normal = engine_finish in _NORMAL_ENDS
        self._cursor.final = normal
        self._run()
        readings = 0
        while self._reader is not None and (normal or self._reader.mentioned):
            readings += 1
            self._calling = readings < _SECOND_READINGS
            outcome = self._reader.settle(self._cursor)
            # One end found behind a quoted call shows that quoted calls are not balanced here.
            self._balanced = self._balanced and outcome is Outcome.REFUSED
            self._outcome(self._reader, outcome)
            self._run()
        if not normal:
            self._cut()
        if self._blank and not self._ended:
            self._out.text(ContentDelta, self._blank)
        self.finish_reason = engine_finish
        if normal:
            self.finish_reason = "tool_calls" if self._ended else "stop"
        return self._out.take()

    def _skip(self, text: str) -> bool:
        """Pass on text that holds no markup, without a second look; false when it needs one."""
        reader = self._reader
        if reader is None:
            if self._fresh:
                return False
            self._say(text)
            return True
        if not reader.skip(text):
            return False
        self._cursor.skip(text)
        if reader.certain and reader.call.ready:
            self._announce(reader)
        return True

    def _run(self) -> None:
        while self._text() if self._reader is None else self._outcome(self._reader, self._reader.read(self._cursor)):
            pass

    def _text(self) -> bool:
        """Pass reasoning or content on, up to the next marker that means something in it."""
        cursor = self._cursor
        text, start = cursor.text, cursor.at
        if start == len(text):
            return False
        mark = TEXT_MARKS.search(text, start)
        stop = mark.start() if mark else len(text) if cursor.final else cut_marker(text, start)
        if self._fresh and self._calling and not self._reasoning:
            bare = self._bare_call(text, start)
            if bare is not None:
                return bare
        self._say(text[start:stop])
        cursor.at = stop
        if mark is None:
            return False
        self._mark(mark.group(), stop)
        return True

    def _mark(self, marker: str, at: int) -> None:
        """Act on a marker in text."""
        self._cursor.at = at + len(marker)
        if marker == m.CALL and self._calling:
            self._open_call(at, marker)
        elif marker == m.THINK_END and (self._reasoning or self._think_open or self._fresh):
            self._reasoning = self._think_open = False
            self._fresh, self._blank = True, ""
        elif marker == m.THINK and self._fresh:
            self._reasoning, self._blank = True, ""
        else:
            self._say(marker)

    def _say(self, text: str) -> None:
        """Pass text on. Whitespace before the first word of content waits: beside a call it is only layout."""
        if not text:
            return
        if self._reasoning:
            self._fresh = self._fresh and text.isspace()
            self._out.text(ReasoningDelta, text)
            return
        if self._fresh:
            text, self._blank = self._blank + text, ""
            if text.isspace() and len(text) < _LONGEST_BLANK:
                self._blank = text
                return
            self._fresh = False
        self._code.add(text)
        self._out.text(ContentDelta, text)

    def _bare_call(self, text: str, start: int) -> bool | None:
        """Begin a call whose `<tool_call>` is missing, at the very start of content.

        Returns:
            True when one begins, False while it is too soon to tell, None when the text is something else.
        """
        stop = text.find("<", start)
        stop = len(text) if stop < 0 else stop
        said = text[start:stop]
        name = said.strip()
        begin = stop - len(said.lstrip())
        if not name or stop - begin > LONGEST_NAME or len(self._blank) + begin - start >= _LONGEST_BLANK:
            return None
        known = self._tools.by_name(name) is not None
        marker = marker_at(text, stop) if stop < len(text) else ""
        if known and marker == m.KEY:
            self._say(text[start:begin])
            self._open_call(begin, text[begin:stop]).begin_bare(name)
            self._cursor.at = stop + len(marker)
            return True
        begun = known or (stop == len(text) and any(tool.name.startswith(name) for tool in self._tools.tools))
        return False if begun and marker == "" and not self._cursor.final else None

    def _open_call(self, at: int, opener: str) -> CallReader:
        self._cursor.mark(at)
        self._opener = opener
        self._announced = False
        self._reader = CallReader(
            self._tools, in_reasoning=self._reasoning, balanced=self._balanced, bodies=self._bodies > 0
        )
        return self._reader

    def _outcome(self, reader: CallReader, outcome: Outcome) -> bool:
        """Act on what reading a call came to; false when it waits for more text."""
        if outcome is Outcome.WAIT:
            if reader.certain:
                self._announce(reader)
            return False
        self._reader = None
        self._bodies -= outcome is Outcome.REFUSED and reader.in_body
        quoted = outcome is Outcome.REFUSED or (reader.call.tool is None and self._code.inside())
        if quoted:
            self._unread()
        else:
            self._end_call(reader)
        return True

    def _unread(self) -> None:
        """What began like a call is text: say its opener and read on behind it."""
        self._cursor.seek(len(self._opener))
        self._cursor.unmark()
        self._say(self._opener)

    def _end_call(self, reader: CallReader) -> None:
        status = reader.call.close()
        self._announce(reader)
        self._cursor.unmark()
        if self._reasoning:
            self._reasoning, self._think_open = False, True
        self._fresh, self._blank = True, ""
        if self._muted():
            self.dropped += 1
            return
        self._out.end(self._index, status)
        self._ended += 1

    def _announce(self, reader: CallReader) -> None:
        """Pass on what is known of a call that is surely one."""
        if self._muted():
            return
        if not self._announced:
            self._announced = True
            self._index += 1
            self._out.start(self._index, reader.call.name)
        self._out.arguments(self._index, reader.call.take())

    def _muted(self) -> bool:
        return self._ended > 0 and not self._tools.parallel

    def _cut(self) -> None:
        """The engine stopped early: what there is of a call is reported apart; other text is text."""
        cursor = self._cursor
        rest = cursor.text[cursor.at :]
        if self._reader is not None:
            self.truncated = cursor.since_mark()
            self._reader = None
        elif self._calling and len(rest) > 1 and m.CALL.startswith(rest):
            self.truncated = rest
        else:
            self._say(rest)


def parse(text: str, tools: ToolSet, *, reasoning: bool, engine_finish: str = "stop") -> Message:
    """Read a whole answer.

    Args:
        text: What the model wrote, end token left out.
        tools: The request's tools.
        reasoning: Whether the prompt opened `<think>`.
        engine_finish: The engine's own finish reason.
    """
    parser = Parser(tools, reasoning=reasoning)
    events = parser.feed(text) + parser.finish(engine_finish)
    return collect(events, finish_reason=parser.finish_reason, truncated=parser.truncated)
