"""Which session a request belongs to: the first rung of a ladder that holds.

What a client says comes first, by headers and then by the body; then what its prompt repeats; else the session is new.
A session id is a hint, never an identity: it can be made up, so it counts only among those who share an API key. Of
what a client says nothing is kept but digests. A bare ``user`` is no rung: it names a tenant and would pin all of its
sessions to one place.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from router.lineage import Lineage
from router.trail import Trail

Rung = Literal[
    "session-id",
    "claude-code-session-id",
    "thread-id",
    "prompt_cache_key",
    "session_id",
    "metadata.session_id",
    "user_id",
    "lineage",
    "fork",
    "new",
]
"""Where an identity comes from, a label of metrics.

The first three are headers (an edge sends them as ``x-dynamo-meta-<name>``), the next four fields of the body:
``user_id`` is the session part of Claude Code's ``metadata.user_id``, or of ``user`` where a gateway moved it there.
``lineage`` and ``fork`` are the prompt's own: it continues a session, or forks from one.
"""

MAX_VALUE = 256
"""Most bytes that are read of what a client says."""

MAX_USER_ID = 2048
"""Longest ``user_id``, in characters, that is searched for a session."""


class Identity(msgspec.Struct, frozen=True):
    """The session of a request.

    Attributes:
        key: 16 hex digits, the same for every request of the session.
        rung: Where it comes from.
        parent: The key of the session it was split from, where that is known; a hint, the table may not hold it.
    """

    key: str
    rung: Rung
    parent: str | None = None


class Hints(msgspec.Struct, frozen=True):
    """What a request says of its session, digested.

    Attributes:
        scope: Who shares sessions: API key and model.
        named: The session that the client names, if it does.
    """

    scope: str
    named: Identity | None = None


def read_hints(metadata: Mapping[str, Any], body: Mapping[str, Any]) -> Hints:
    """Read the ladder's upper rungs; what is no text is passed over.

    Args:
        metadata: Headers ``x-dynamo-meta-<name>`` under ``<name>``; ``api-key`` is whatever an edge puts there for the
            client's API key, at best a digest.
        body: The request's body, under OpenAI's names.
    """
    scope = _digest(_value(metadata.get("api-key")), _value(body.get("model")))
    for rung, path, parent in _named(metadata, body):
        if path[0]:
            split = parent[0] and parent != path
            return Hints(scope, Identity(_digest(scope, *path), rung, _digest(scope, *parent) if split else None))
    return Hints(scope)


def identify(hints: Hints, trail: Trail, lineage: Lineage) -> Identity:
    """Return the session of a request and record its prompt, so that a client may stop naming the session.

    Args:
        hints: What the request says of itself.
        trail: Its prompt's, in the scope of the hints.
        lineage: The sessions so far; the only thing changed.
    """
    identity = _from_lineage(trail, lineage) if hints.named is None else _with_parent(hints.named, trail, lineage)
    lineage.record(identity.key, trail)
    return identity


def _from_lineage(trail: Trail, lineage: Lineage) -> Identity:
    match = lineage.match(trail)
    if match.relation == "continues" and match.session is not None:
        return Identity(match.session, "lineage")
    return Identity(lineage.open(trail), "new" if match.session is None else "fork", match.session)


def _with_parent(named: Identity, trail: Trail, lineage: Lineage) -> Identity:
    # A client that copies a session names the copy anew: only the history tells where it comes from.
    if named.parent is not None or named.key in lineage:
        return named
    return msgspec.structs.replace(named, parent=lineage.match(trail).session)


_Path = tuple[bytes, bytes]
"""A session and the agent within it, empty for the session's own."""

_NOBODY = (b"", b"")


def _named(metadata: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[tuple[Rung, _Path, _Path]]:
    """Yield each upper rung, what it says of the session and of the parent; empty bytes where it says nothing.

    The same id is the same session on every rung, as clients send one id by several.
    """

    def header(name: str) -> bytes:
        return _value(metadata.get(name))

    agent, parent_agent = header("claude-code-agent-id"), header("claude-code-parent-agent-id")
    session, claude = header("session-id"), header("claude-code-session-id")
    # A sub-agent has a key of its own below its session's; without an agent the parent is another session.
    parent = (session, parent_agent) if agent else (header("parent-session-id"), b"")
    yield "session-id", (session, agent), parent
    yield "claude-code-session-id", (claude, agent), (claude if agent else b"", parent_agent)
    yield "thread-id", (header("thread-id"), b""), (header("codex-parent-thread-id"), b"")
    yield "prompt_cache_key", (_value(body.get("prompt_cache_key")), b""), _NOBODY
    yield "session_id", (_value(body.get("session_id")), b""), _NOBODY
    extra = body.get("metadata")
    fields = extra if isinstance(extra, Mapping) else {}
    yield "metadata.session_id", (_value(fields.get("session_id")), b""), _NOBODY
    claimed = _session_part(fields.get("user_id")) or _session_part(body.get("user"))
    yield "user_id", (_value(claimed), b""), _NOBODY


def _session_part(user_id: Any) -> Any:
    """Return the session that Claude Code writes into its user id, None in any other id.

    Before 2.1.78 the id is ``user_<hash>_account_<uuid>_session_<uuid>``, since then a JSON object in a string.
    """
    if not isinstance(user_id, str) or len(user_id) > MAX_USER_ID:
        return None
    if user_id.startswith("{"):
        try:
            return msgspec.json.decode(user_id).get("session_id")
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return None
    head, _, session = user_id.rpartition("_session_")
    return session if head.startswith("user_") else None


def _value(said: Any) -> bytes:
    return said.strip().encode("utf-8", "surrogatepass")[:MAX_VALUE] if isinstance(said, str) else b""


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(4, "little") + content)
    return digest.hexdigest()[:16]
