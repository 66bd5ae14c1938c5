"""What became of the tool calls of one answer, for the metrics."""

from collections.abc import Sequence
from typing import Any

import msgspec

from toolcall import ArgumentsDelta, CallEnd, CallStart, CallStatus, Event, Tool, ToolSet
from toolcall.buckets import Bucket, Judge

OTHER_KEYWORD = "other"
"""A failure of something that the tag does enforce, so that no tag was applied, or only a shallow one."""


class SentCall(msgspec.Struct, frozen=True):
    """A complete call that went to the client.

    Attributes:
        status: The parser's own status.
        bucket: OpenRouter's judgement of the call as it left.
        checked: Whether the tag of its tool leaves keywords to the check after the call.
        failed: The keywords that failed this check; `OTHER_KEYWORD` for one that was not left to it.
    """

    status: str
    bucket: Bucket
    checked: bool = False
    failed: frozenset[str] = frozenset()


class Tally:
    """Counts the calls of one answer.

    Args:
        tools: The request's tools.
        judge: Made of the same tools, as the client sent them.
        shallow: Whether the request's tag is only a shallow one.

    Attributes:
        sent: The calls that went to the client, in order.
        truncated: Calls that the token limit cut, 0 or 1.
        dropped: Calls left out because the request allows only one.
    """

    def __init__(self, tools: ToolSet, judge: Judge, *, shallow: bool = False) -> None:
        self._tools = tools
        self._judge = judge
        self._open: dict[int, tuple[str, list[str]]] = {}
        self.shallow = shallow
        self.sent: list[SentCall] = []
        self.truncated = 0
        self.dropped = 0

    @property
    def offered(self) -> bool:
        """Whether the request has tools at all."""
        return bool(self._tools.tools)

    @property
    def tool_choice(self) -> str:
        """The request's tool choice: auto, required, named or none."""
        return self._tools.choice.mode

    def read(self, events: Sequence[Event]) -> None:
        """Take in events as they leave."""
        for event in events:
            match event:
                case CallStart(index, name):
                    self._open[index] = (name, [])
                case ArgumentsDelta(index, text):
                    self._open[index][1].append(text)
                case CallEnd(index, status):
                    name, pieces = self._open.pop(index)
                    self.sent.append(self._sent(name, "".join(pieces), status))

    def _sent(self, name: str, arguments: str, status: CallStatus) -> SentCall:
        bucket = self._judge.call(name, arguments)
        tool = self._tools.by_name(name)
        if tool is None or not tool.remainder:
            return SentCall(status.kind, bucket)
        failed = _failed_keywords(tool, arguments) if status.kind == "invalid" else frozenset[str]()
        return SentCall(status.kind, bucket, checked=True, failed=failed)


def _failed_keywords(tool: Tool, arguments: str) -> frozenset[str]:
    left = {each.keyword for each in tool.remainder}
    try:
        errors = list(tool.validator.iter_errors(msgspec.json.decode(arguments)))
    except (ValueError, RecursionError):
        errors = []
    return frozenset(_keyword(error.schema_path, left) for error in errors) or frozenset({OTHER_KEYWORD})


def _keyword(schema_path: list[Any], left: set[str]) -> str:
    """Return the keyword that failed, or the one above it that was left to the check, such as `if` over `required`.

    Only keywords of the remainder come back: the path also holds the client's own names, which are no labels.
    """
    return next((step for step in reversed(schema_path) if step in left), OTHER_KEYWORD)
