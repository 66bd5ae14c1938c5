"""Recorded sessions: the Weka form, plain or with its block ids run-length coded ("compact"), and Mooncake's.

Readers take text and leave files to their caller. The block ids that they give are global to the trace.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from router.replay.runs import Run, as_runs, common_prefix, joined, length, split
from router.replay.trace import Session, Trace, TraceError, Turn

Text = str | bytes

_Positive = Annotated[int, Meta(ge=1)]
_Natural = Annotated[int, Meta(ge=0)]
_NonNegative = Annotated[float, Meta(ge=0)]
_Form = TypeVar("_Form")

_SESSION = "a session is a JSON object with id, block_size and requests"
_ROW = "a row is a JSON object with input_length, output_length, hash_ids and a timestamp or delay in ms"


class _Request(msgspec.Struct, tag_field="type", tag="n"):
    """A request of the Weka form, times in seconds; compact documents have `blocks`, plain ones `hash_ids`."""

    t: _NonNegative
    input_tokens: _Positive = msgspec.field(name="in")
    output_tokens: _Natural = msgspec.field(name="out")
    think_time: _NonNegative | None = None
    api_time: _NonNegative | None = None
    blocks: list[tuple[_Natural, _Positive]] | None = None
    hash_ids: list[_Natural] | None = None

    def runs(self) -> tuple[Run, ...]:
        return joined(self.blocks) if self.blocks is not None else as_runs(self.hash_ids or ())


class _Streaming(_Request, tag="s"):
    """The same, its answer streamed."""


class _SubAgent(msgspec.Struct, tag_field="type", tag="subagent"):
    t: _NonNegative
    requests: list["_Request | _Streaming | _SubAgent"]


class _Document(msgspec.Struct):
    id: str
    block_size: _Positive
    requests: list[_Request | _Streaming | _SubAgent]
    tool_tokens: _Natural = 0
    system_tokens: _Natural = 0
    hash_id_scope: Literal["local", "global"] = "local"


def read_compact(lines: Iterable[Text], name: str = "compact") -> Trace:
    """Read sessions of the Weka form, one JSON object a line, their blocks as runs `[first id, count]` or as plain ids.

    Args:
        lines: The lines; empty ones are passed over.
        name: The trace's.

    Raises:
        TraceError: A line is no such session, or does not fit those before it.
    """
    return read_weka(_numbered(lines), name)


def read_weka(documents: Iterable[tuple[str, Text]], name: str = "weka") -> Trace:
    """Read sessions of the Weka form (callanjfox/kv-cache-tester), one JSON object a document.

    Sub-agents become sessions of their own. An answer of 0 tokens, which is a canceled one, counts as 1. Where a
    request does not say how long the client waited, it is the time since the previous one's `t + api_time`.

    Ids of scope `local` are private to their session but for the harness: sessions with equal
    `(tool_tokens, system_tokens)` opened with the same text, so the blocks that fit in it, as the session's first
    prompt has them, get ids that those sessions share.

    Args:
        documents: The place to name if it is wrong, and the text, of each.
        name: The trace's.

    Raises:
        TraceError: A document is no such session, or does not fit those before it.
    """
    numbering = _Numbering()
    sessions: dict[str, Session] = {}
    form: tuple[int, str] | None = None
    for place, text in documents:
        document = _decode(text, _Document, place, _SESSION)
        its_form = document.block_size, document.hash_id_scope
        form = form or its_form
        if form != its_form:
            says = "block_size {} and hash_id_scope {!r}".format
            raise TraceError(f"{place}: {says(*its_form)} after {says(*form)}: read the two sets apart")
        numbering.begin(document)
        for session in _sessions(document.id, document.requests, numbering, place):
            if session.session_id in sessions:
                raise TraceError(f"{place}: the second session with the id {session.session_id!r}: give it another")
            sessions[session.session_id] = session
    if form is None:
        raise TraceError(f"no session at all: {_SESSION}")
    return Trace(name, form[0], tuple(sessions.values()))


class _Numbering:
    """Gives blocks their global ids, document by document."""

    def __init__(self) -> None:
        self._harnesses: dict[tuple[int, int], Run] = {}
        self._next_id = 0

    def begin(self, document: _Document) -> None:
        self._size = document.block_size
        self._is_global = document.hash_id_scope == "global"
        harness = document.tool_tokens, document.system_tokens
        blocks = 0 if self._is_global else sum(harness) // self._size
        if blocks and harness not in self._harnesses:
            self._harnesses[harness] = (self._next_id, blocks)
            self._next_id += blocks
        self._shared = (self._harnesses[harness],) if blocks else ()
        first = next((entry for entry in document.requests if isinstance(entry, _Request)), None)
        self._opening = () if first is None else split(first.runs(), blocks)[0]
        self._base = 0 if self._is_global else self._next_id

    def blocks(self, request: _Request, place: str) -> tuple[Run, ...]:
        runs = _full_blocks(request.runs(), request.input_tokens, self._size, place)
        shared = common_prefix(runs, self._opening)
        private = [(self._base + first, count) for first, count in split(runs, shared)[1]]
        self._next_id = max([self._next_id, *map(sum, private)])
        return joined((*split(self._shared, shared)[0], *private))


def _sessions(
    session_id: str,
    entries: Sequence[_Request | _SubAgent],
    numbering: _Numbering,
    place: str,
    *,
    parent: str | None = None,
    arrival_s: float | None = None,
) -> Iterator[Session]:
    """Yield a session, then its sub-agents'."""
    requests = [entry for entry in entries if isinstance(entry, _Request)]
    if not requests:
        raise TraceError(f"{place}: session {session_id!r} has no requests of its own: take it out")
    turns = tuple(_turns(requests, numbering, f"{place}, session {session_id!r}"))
    yield Session(session_id, turns, arrival_s, parent)
    agents = [entry for entry in entries if isinstance(entry, _SubAgent) and entry.requests]
    for number, agent in enumerate(agents, 1):
        # In some sets its requests' times count from its own start, in others from the session's.
        first = agent.requests[0].t
        offset = (first if first >= agent.t else agent.t + first) - requests[0].t
        agent_id = f"{session_id}/{number}"
        yield from _sessions(agent_id, agent.requests, numbering, place, parent=session_id, arrival_s=max(0.0, offset))


def _turns(requests: Sequence[_Request], numbering: _Numbering, place: str) -> Iterator[Turn]:
    ended = start = requests[0].t
    for number, request in enumerate(requests):
        think = max(0.0, request.t - ended) if request.think_time is None else request.think_time
        ended = request.t + (request.api_time or 0.0)
        yield Turn(
            input_tokens=request.input_tokens,
            output_tokens=max(1, request.output_tokens),
            think_s=think if number else 0.0,
            start_s=max(0.0, request.t - start),
            blocks=numbering.blocks(request, f"{place}, request {number + 1}"),
        )


class _Row(msgspec.Struct):
    """A row of Mooncake's form, times in milliseconds."""

    input_length: _Positive
    output_length: _Natural
    hash_ids: list[_Natural]
    timestamp: _NonNegative | None = None
    delay: _NonNegative | None = None
    session_id: str | None = None


_ALIASES = {
    "input_tokens": "input_length",
    "output_tokens": "output_length",
    "created_time": "timestamp",
    "delay_ms": "delay",
}
"""Other names of the fields, as Dynamo's loader has them."""

_BLOCK_SIZES = (512, 64)
"""Tokens in a block: of the published Mooncake traces, and of the agent traces written in their form."""


def read_mooncake(lines: Iterable[Text], name: str = "mooncake") -> Trace:
    """Read rows of Mooncake's form, one JSON object a line; their ids are global as they are.

    Rows of one `session_id` are its turns; a row without one is a session of its own. A turn waits its `delay`, or else
    the time between its `timestamp` and the previous turn's. Sessions arrive at their first timestamp, counted from the
    trace's earliest. The form does not say its block size: it is the one of 512 and 64 that all rows fit.

    Args:
        lines: The lines; empty ones are passed over.
        name: The trace's.

    Raises:
        TraceError: A line is no such row, or no block size fits all of them.
    """
    rows: dict[str, list[_Row]] = {}
    sizes = list(_BLOCK_SIZES)
    for place, line in _numbered(lines):
        row = _row(line, place)
        sizes = [
            size for size in sizes if row.input_length // size <= len(row.hash_ids) <= row.input_length // size + 1
        ]
        if not sizes:
            raise TraceError(
                f"{place}: no block size goes with {len(row.hash_ids)} hash_ids for {row.input_length} tokens and with "
                f"the rows before: each block of {' or '.join(map(str, _BLOCK_SIZES))} tokens has one id"
            )
        rows.setdefault(row.session_id or place, []).append(row)
    if not rows:
        raise TraceError(f"no row at all: {_ROW}")
    stamps = [row.timestamp for session in rows.values() for row in session if row.timestamp is not None]
    origin = min(stamps, default=0.0)
    return Trace(name, sizes[0], tuple(_row_session(key, rows[key], sizes[0], origin) for key in rows))


def _row(line: Text, place: str) -> _Row:
    fields = _decode(line, dict[str, Any], place, _ROW)
    for alias, field in _ALIASES.items():
        if alias in fields:
            if field in fields:
                raise TraceError(f"{place}: has both {field} and {alias}, which mean the same: leave one")
            fields[field] = fields.pop(alias)
    try:
        return msgspec.convert(fields, _Row)
    except msgspec.ValidationError as error:
        raise TraceError(f"{place}: {error}: {_ROW}") from error


def _row_session(session_id: str, rows: Sequence[_Row], block_size: int, origin_ms: float) -> Session:
    arrival_ms = rows[0].timestamp
    turns: list[Turn] = []
    start_ms = 0.0
    for number, row in enumerate(rows):
        think_ms = _wait_ms(rows[number - 1], row) if number else 0.0
        start_ms += think_ms
        if row.timestamp is not None and arrival_ms is not None:
            start_ms = max(0.0, row.timestamp - arrival_ms)
        blocks = split(as_runs(row.hash_ids), row.input_length // block_size)[0]
        turns.append(Turn(row.input_length, max(1, row.output_length), think_ms / 1000, start_ms / 1000, blocks))
    return Session(session_id, tuple(turns), None if arrival_ms is None else (arrival_ms - origin_ms) / 1000)


def _wait_ms(previous: _Row, row: _Row) -> float:
    if row.delay is not None:
        return row.delay
    if row.timestamp is None or previous.timestamp is None:
        return 0.0
    return max(0.0, row.timestamp - previous.timestamp)


def _full_blocks(runs: Sequence[Run], tokens: int, block_size: int, place: str) -> tuple[Run, ...]:
    wanted = tokens // block_size
    if (given := length(runs)) < wanted:
        raise TraceError(
            f"{place}: {tokens} tokens are {wanted} full blocks of {block_size}, but blocks or hash_ids name {given}: "
            "name them all"
        )
    return split(runs, wanted)[0]


def _numbered(lines: Iterable[Text]) -> Iterator[tuple[str, Text]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"line {number}", line


def _decode(text: Text, kind: type[_Form], place: str, mend: str) -> _Form:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TraceError(f"{place}: {error}: {mend}") from error
