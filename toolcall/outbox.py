"""Events on their way out: neighbours of one kind travel together."""

from toolcall.status import ArgumentsDelta, CallEnd, CallStart, CallStatus, ContentDelta, Event, ReasoningDelta


class Outbox:
    """Collects the events of one `feed`."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._pieces: list[str] = []
        self._kind: type[ReasoningDelta | ContentDelta] | int = ContentDelta

    def text(self, kind: type[ReasoningDelta] | type[ContentDelta], text: str) -> None:
        """Add reasoning or content."""
        self._add(kind, text)

    def arguments(self, index: int, text: str) -> None:
        """Add a piece of a call's arguments."""
        self._add(index, text)

    def start(self, index: int, name: str) -> None:
        """Add the start of a call."""
        self._flush()
        self._events.append(CallStart(index, name))

    def end(self, index: int, status: CallStatus) -> None:
        """Add the end of a call."""
        self._flush()
        self._events.append(CallEnd(index, status))

    def take(self) -> list[Event]:
        """Everything added since the last time."""
        self._flush()
        events, self._events = self._events, []
        return events

    def _add(self, kind: type[ReasoningDelta] | type[ContentDelta] | int, text: str) -> None:
        if not text:
            return
        if kind != self._kind:
            self._flush()
            self._kind = kind
        self._pieces.append(text)

    def _flush(self) -> None:
        if not self._pieces:
            return
        text = "".join(self._pieces)
        self._pieces = []
        kind = self._kind
        self._events.append(ArgumentsDelta(kind, text) if isinstance(kind, int) else kind(text))
