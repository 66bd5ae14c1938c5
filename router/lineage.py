"""Finds the session that a prompt continues from its tokens alone.

An agent's prompt repeats the prompt before it and appends. Of every session the table keeps the fingerprints of its
opening (the first prompt) and of its last few prompts, never a token: the deepest one that a new prompt repeats names
the session.

- A prompt that repeats a session's last prompt continues the session.
- One that parts from the last prompt only within its last 512 tokens continues the session too: its client rewrote the
  end (a reminder that moves along, a short turn asked anew).
- One that parts earlier, but holds the opening whole, either was rewritten in the middle (old reasoning dropped, old
  tool results cleared), then the end of the last prompt still stands in it and the session continues; or it is a fork
  (a sub-agent over its parent's history, turns taken back, a compaction that keeps the first message) and a session of
  its own. Where the parent goes on after a sub-agent continued it, the parent is the fork.
- What several sessions share without being related, the tools and system prompt of a harness, never holds an opening
  whole, and says nothing. So a compaction that keeps nothing else is new.

Two sessions may open with equal prompts, word by word. The second opening is a new session, a twin, because nothing
tells it from a retry, and a twin that never comes back is only forgotten. Each of the second turns that follow
continues one of the twins, the one that spoke last; until then their prompts, and so their KV, were the same. Twins
whose answers are alike as well count as one session until they part, and then as a fork.
"""

import hashlib
from collections import OrderedDict
from typing import Literal

import msgspec

from router.trail import STRIDE, Trail

KEPT = 4
"""Most prompts that a session is known by: its opening and its last three."""

TWINS = 64
"""Most sessions that wait with the same last prompt; the next one like them continues the one that waited longest."""

Relation = Literal["continues", "forks", "new"]


class Match(msgspec.Struct, frozen=True):
    """What the table knows of a prompt.

    Attributes:
        relation: How the prompt is related to a known session.
        session: The session's key, None for a new one.
        shared: Tokens that the prompt shares with that session's prompts at the least.
    """

    relation: Relation
    session: str | None = None
    shared: int = 0


class _Tip(msgspec.Struct, eq=False):
    """Where prompts have ended.

    Attributes:
        fingerprint: Of the prompt.
        checkpoint: The last one within it.
        length: In tokens.
        here: Sessions whose last prompt this is, the latest one last.
        past: Sessions that went on from here, the latest one last.
    """

    fingerprint: bytes
    checkpoint: bytes
    length: int
    here: dict[str, None] = msgspec.field(default_factory=dict)
    past: dict[str, None] = msgspec.field(default_factory=dict)


class _Stretch(msgspec.Struct, eq=False):
    """The tips between one checkpoint and the next: how many of each length, and who came last."""

    lengths: dict[int, int] = msgspec.field(default_factory=dict)
    last: str = ""


class _Session(msgspec.Struct, eq=False):
    """A session: its opening, its last prompts, the last one last, and that one's last window."""

    tips: list[_Tip] = msgspec.field(default_factory=list)
    tail: int | None = None


class Lineage:
    """The sessions of all scopes, by what their prompts look like.

    A session takes about 4 KB, whatever its length (41 MB at 10,000); the one seen longest ago goes first. For one
    thread: what costs time, :func:`router.trail.follow`, can run on any.

    Args:
        capacity: Most sessions to keep.
    """

    def __init__(self, capacity: int = 10_000) -> None:
        self._capacity = capacity
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._tips: dict[bytes, _Tip] = {}
        self._stretches: dict[bytes, _Stretch] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def __contains__(self, session: str) -> bool:
        return session in self._sessions

    def match(self, trail: Trail) -> Match:
        """Return the session that a prompt continues or forks from; changes nothing."""
        for depth in reversed(range(len(trail.checkpoints))):
            stretch = self._stretches.get(trail.checkpoints[depth])
            if stretch is None:
                continue
            if (tip := self._repeated(trail, stretch)) is not None:
                return self._extension(trail, tip)
            if self._is_private(stretch.last, trail.checkpoints[depth], depth * STRIDE):
                return self._divergence(trail, stretch.last, depth * STRIDE)
        return Match("new")

    def open(self, trail: Trail) -> str:
        """Return a key that no session has, for one that starts with this prompt; changes nothing."""
        tip = self._tips.get(trail.tip)
        number = len(tip.here) + len(tip.past) if tip else 0
        while (key := _key(trail.tip, number)) in self._sessions:
            number += 1
        return key

    def record(self, session: str, trail: Trail) -> None:
        """Note a session's prompt, whoever named the session; the sessions above capacity are forgotten."""
        if not trail.length:
            return
        known = self._sessions.setdefault(session, _Session())
        self._sessions.move_to_end(session)
        # Back at its opening or without it, a session starts over: its other prompts say nothing of this one.
        if known.tips and (known.tips[0].fingerprint == trail.tip or not _holds(trail, known.tips[0])):
            self._forget(session, known.tips)
            known.tips = []
        tip = self._reached(trail)
        if known.tips:
            left = known.tips[-1]
            _remove(left.here, session)
            left.past[session] = None
        known.tips = [other for other in known.tips if other is not tip] + [tip]
        _remove(tip.past, session)
        tip.here[session] = None
        known.tail = trail.tail
        self._stretches[tip.checkpoint].last = session
        self._forget(session, known.tips[1 : 1 - KEPT])
        del known.tips[1 : 1 - KEPT]
        if len(self._sessions) > self._capacity:
            forgotten, gone = self._sessions.popitem(last=False)
            self._forget(forgotten, gone.tips)

    def _repeated(self, trail: Trail, stretch: _Stretch) -> _Tip | None:
        """Return the longest prompt that ends in the stretch and that this one repeats whole."""
        lengths = sorted((length for length in stretch.lengths if length <= trail.length), reverse=True)
        found = (self._tips.get(trail.fingerprint(length)) for length in lengths)
        return next((tip for tip in found if tip is not None), None)

    def _extension(self, trail: Trail, tip: _Tip) -> Match:
        latest = next(reversed(tip.here or tip.past))
        same = tip.length == trail.length
        if same and self._sessions[latest].tips[0] is tip:
            return Match("continues", next(iter(tip.here)), tip.length) if len(tip.here) >= TWINS else Match("new")
        if same or tip.here:
            return Match("continues", latest, tip.length)
        return self._divergence(trail, latest, tip.length)

    def _divergence(self, trail: Trail, session: str, shared: int) -> Match:
        known = self._sessions[session]
        # Without more than the opening in common it may as well be a twin whose opening went to another frontend.
        at_the_end = known.tips[0].length < shared and known.tips[-1].length - shared < STRIDE
        same = at_the_end or trail.repeats(known.tail, shared)
        return Match("continues" if same else "forks", session, shared)

    def _is_private(self, session: str, checkpoint: bytes, length: int) -> bool:
        """Tell whether the checkpoint, ``length`` tokens into the session's last prompts, lies behind its opening."""
        known = self._sessions.get(session)
        if known is None or known.tips[0].length > length:
            return False
        return any(tip.checkpoint == checkpoint for tip in known.tips)

    def _reached(self, trail: Trail) -> _Tip:
        tip = self._tips.get(trail.tip)
        if tip is None:
            tip = self._tips[trail.tip] = _Tip(trail.tip, trail.checkpoint(trail.length), trail.length)
            lengths = self._stretches.setdefault(tip.checkpoint, _Stretch()).lengths
            lengths[tip.length] = lengths.get(tip.length, 0) + 1
        return tip

    def _forget(self, session: str, tips: list[_Tip]) -> None:
        for tip in tips:
            _remove(tip.here, session)
            _remove(tip.past, session)
            if tip.here or tip.past:
                continue
            del self._tips[tip.fingerprint]
            lengths = self._stretches[tip.checkpoint].lengths
            lengths[tip.length] -= 1
            if not lengths[tip.length]:
                del lengths[tip.length]
            if not lengths:
                del self._stretches[tip.checkpoint]


def _holds(trail: Trail, tip: _Tip) -> bool:
    return tip.length <= trail.length and trail.fingerprint(tip.length) == tip.fingerprint


def _remove(sessions: dict[str, None], session: str) -> None:
    sessions.pop(session, None)
    if not sessions:
        # An emptied dict keeps its table, 170 bytes; a cleared one does not.
        sessions.clear()


def _key(tip: bytes, number: int) -> str:
    return hashlib.sha256(tip + number.to_bytes(8, "little")).hexdigest()[:16]
