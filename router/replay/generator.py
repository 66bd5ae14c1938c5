"""Coding-agent sessions from a seed: no recorded data, the same statistics.

The model is fitted to 474 recorded Claude Code sessions (callanjfox/kv-cache-tester). A session starts fresh, with its
harness's prompt and a first message, or resumes a long history. Each turn appends the previous answer and what tools or
a person say to it. A prompt that outgrows the context window is compacted; after a long wait the history is often
rendered anew, so that of its cached blocks only the harness's are of use. A few sessions start sub-agents.
"""

from collections.abc import Iterator
from statistics import NormalDist

import msgspec
import numpy as np
from numpy.typing import NDArray

from router.replay.runs import Run, joined, length, split
from router.replay.trace import Session, Trace, Turn

_Floats = NDArray[np.float64]


class _Quantiles:
    """A distribution of positive values by its quantiles, log-linear in the normal score between them.

    Args:
        points: Pairs of probability, in percent, and value.
    """

    def __init__(self, *points: tuple[float, float]) -> None:
        self._scores = [NormalDist().inv_cdf(percent / 100) for percent, _ in points]
        self._logs = np.log([value for _, value in points])

    def at(self, scores: _Floats) -> _Floats:
        """Return the values at standard normal scores."""
        return np.exp(np.interp(scores, self._scores, self._logs))

    def value(self, score: float) -> float:
        """Return the value at one standard normal score."""
        return float(np.exp(np.interp(score, self._scores, self._logs)))

    def one(self, rng: np.random.Generator) -> float:
        """Draw a value."""
        return self.value(rng.normal())


# Tokens. What a turn adds is its prompt's growth less the previous answer.
_HARNESS = _Quantiles(
    (1, 8500), (10, 11500), (20, 12800), (30, 14200), (50, 15200), (90, 16300), (95, 17600), (99, 22e3)
)
_FIRST_MESSAGE = _Quantiles(
    (1, 190), (10, 520), (20, 1740), (50, 3670), (80, 5640), (90, 7150), (95, 11340), (99, 21e3)
)
_RESUMED = _Quantiles((1, 42e3), (10, 65e3), (30, 92e3), (50, 12e4), (60, 141e3), (70, 229e3), (90, 409e3), (99, 8e5))
_OUTPUT = _Quantiles(
    (1, 58),
    (5, 89),
    (10, 105),
    (20, 127),
    (50, 215),
    (70, 356),
    (80, 508),
    (90, 866),
    (95, 1490),
    (99, 3630),
    (99.9, 7600),
)
_ADDED = _Quantiles(
    (10, 1), (20, 29), (30, 78), (50, 260), (70, 710), (80, 1200), (90, 2300), (95, 4200), (99, 11500), (99.9, 5e4)
)
_READ = _Quantiles((5, 1600), (50, 10e3), (95, 6e4))
_COMPACTED = _Quantiles((1, 14e3), (10, 30e3), (25, 40e3), (50, 60e3), (75, 90e3), (90, 105e3), (99, 147e3))
_WINDOW = _Quantiles((5, 128e3), (25, 144e3), (50, 150e3), (75, 158e3), (95, 167e3))
_LARGE_WINDOW = 900e3

# Seconds.
_TOOL_WAIT = _Quantiles(
    (1, 2), (5, 3), (10, 4), (20, 5), (50, 9), (70, 16), (80, 26), (90, 71), (95, 152), (99, 610), (99.9, 3150)
)
_PERSON_WAIT = _Quantiles(
    (1, 1),
    (5, 6),
    (10, 16),
    (20, 32),
    (50, 135),
    (70, 363),
    (80, 768),
    (90, 2500),
    (95, 3350),
    (99, 15e3),
    (99.9, 72e3),
)
_COMPACTING = _Quantiles((5, 9.5), (10, 37), (25, 118), (50, 158), (75, 370), (90, 940), (99, 4500))
_ANSWER_START_S, _ANSWER_TOKEN_S = 3.0, 0.015

# Turns.
_FRESH_TURNS = _Quantiles((1, 4), (5, 7), (10, 12), (20, 23), (30, 37), (50, 71), (70, 107), (90, 196), (99, 347))
_RESUMED_TURNS = _Quantiles((5, 4), (10, 4.5), (20, 7), (30, 15), (50, 25.5), (70, 53), (80, 70), (90, 120), (95, 218))

_FRESH = 0.55
_LARGE_FRESH, _LARGE_RESUMED = 0.12, 0.35
"""Share of the sessions of less than the usual window that have the large one, where nothing is compacted."""

_OUTPUT_KIN, _ADDED_KIN, _WAIT_KIN = 0.17, 0.23, 0.3
"""Share of the log-variance that lies between sessions rather than within them."""

_PEOPLE = (0.8, 4.9)
"""Beta distribution, over sessions, of the share of turns that a person starts."""

_REWRITE_WAITS = (60.0, 300.0, 900.0, 14400.0)
_REWRITE_CHANCES = np.array((0.005, 0.017, 0.04, 0.1, 0.8))
"""Chance that the history is rendered anew, by the wait before the turn; more at the second turn."""
_REWRITE_SECOND_TURN = 0.06
_LOST_TAIL = 0.045
"""Chance that the last full block of a prompt is not in the next one: the end of its last message was rendered anew."""

_HARNESS_DISCOUNT, _HARNESS_STRENGTH = 0.5, 80.0
"""Pitman-Yor process of the harness that a session runs: 474 sessions run about 253, the commonest about 19 times."""

_AGENT_SESSIONS, _AGENTS = 0.026, 3.2
"""Share of sessions that start sub-agents, and how many of them on average."""
_AGENT_FIRST = _Quantiles((1, 8900), (10, 9040), (50, 10400), (75, 11700), (95, 17100))
_AGENT_TURNS = _Quantiles((1, 2.7), (10, 5), (25, 7), (50, 10), (75, 12.75), (95, 19.5))
_AGENT_ADDED = _Quantiles((5, 300), (50, 3500), (95, 22000))
_AGENT_WAIT = _Quantiles((1, 1.6), (25, 2), (50, 3), (75, 6), (90, 21), (99, 64))


class _Plan(msgspec.Struct):
    """What happens in a session, turn by turn.

    Attributes:
        output_tokens: Lengths of the answers.
        added_tokens: What each prompt has beyond the one before it and its answer.
        waits_s: The client's waits before each turn.
        rewritten: Whether the history is rendered anew.
        window_tokens: A prompt beyond it is compacted.
    """

    output_tokens: NDArray[np.int64]
    added_tokens: NDArray[np.int64]
    waits_s: _Floats
    rewritten: NDArray[np.bool_]
    window_tokens: float


def generate(sessions: int, seed: int, block_size: int = 64) -> Trace:
    """Make up agent sessions; the same ones for the same arguments (and version of numpy).

    Args:
        sessions: How many, sub-agents not counted.
        seed: Seed of all that is random.
        block_size: Tokens in a block.

    Raises:
        ValueError: A number is too small.
    """
    if sessions < 1 or block_size < 1:
        raise ValueError(f"{sessions} sessions in blocks of {block_size} tokens: both must be at least 1")
    source = _Source(np.random.default_rng(seed), block_size)
    made = tuple(session for number in range(sessions) for session in _session(source, f"session-{number}"))
    return Trace(f"generated-{seed}", block_size, made)


class _Source:
    """What sessions draw from: chance, block ids, and the harnesses in use.

    Args:
        rng: Chance.
        block_size: Tokens in a block.
    """

    def __init__(self, rng: np.random.Generator, block_size: int) -> None:
        self.rng = rng
        self.block_size = block_size
        self._next_id = 0
        self._harnesses: list[tuple[int, Run]] = []
        self._users: list[int] = []

    def fresh(self, blocks: int) -> Run:
        """Take ids that nobody has."""
        first = self._next_id
        self._next_id += blocks
        return first, blocks

    def harness(self) -> tuple[int, Run]:
        """Choose a session's harness: its length in tokens, and its full blocks."""
        weights = np.array([_HARNESS_STRENGTH + _HARNESS_DISCOUNT * len(self._users), *self._users])
        weights[1:] -= _HARNESS_DISCOUNT
        chosen = int(self.rng.choice(weights.size, p=weights / weights.sum())) - 1
        if chosen < 0:
            tokens = round(_HARNESS.one(self.rng))
            self._harnesses.append((tokens, self.fresh(tokens // self.block_size)))
            self._users.append(0)
        self._users[chosen] += 1
        return self._harnesses[chosen]

    def scores(self, count: int, kin: float) -> _Floats:
        """Draw standard normal scores of one session; `kin` is the share of variance that lies between sessions."""
        own = self.rng.normal(size=count)
        return float(np.sqrt(kin)) * self.rng.normal() + float(np.sqrt(1 - kin)) * own


def _session(source: _Source, session_id: str) -> Iterator[Session]:
    """Yield a session, then its sub-agents."""
    rng = source.rng
    tokens, blocks = source.harness()
    fresh = rng.random() < _FRESH
    size, stay = rng.normal(), rng.normal()
    if fresh:
        first, count = tokens + _FIRST_MESSAGE.value(size), _FRESH_TURNS.value(stay)
    else:
        # Sessions that resume more go on for less.
        first, count = max(_RESUMED.value(size), tokens + 1), _RESUMED_TURNS.value(0.92 * stay - 0.4 * size)
    window = _WINDOW.one(rng)
    if first > window or rng.random() < (_LARGE_FRESH if fresh else _LARGE_RESUMED):
        window = _LARGE_WINDOW
    plan = _plan(source, max(3, round(count)), window, early=0.6 if fresh else 0.25)
    turns = tuple(_turns(source, int(first), joined((blocks,)), plan))
    yield Session(session_id, turns)
    if rng.random() < _AGENT_SESSIONS:
        yield from _sub_agents(source, session_id, turns)


def _plan(source: _Source, count: int, window: float, early: float) -> _Plan:
    """Plan a session of `count` turns; `early` is the chance that its second one reads whole files in."""
    rng = source.rng
    number = np.arange(count, dtype=np.float64)
    added = _ADDED.at(source.scores(count, _ADDED_KIN))
    reads = rng.random(count) < early / np.maximum(number, 1) ** 1.2
    added += np.where(reads, _READ.at(rng.normal(size=count)), 0.0)
    scores = source.scores(count, _WAIT_KIN)
    # Long sessions are those that run by themselves.
    person = rng.random(count) < rng.beta(*_PEOPLE) * (60 / count) ** 0.5
    waits = np.where(person, _PERSON_WAIT.at(scores), _TOOL_WAIT.at(scores))
    chances = _REWRITE_CHANCES[np.searchsorted(_REWRITE_WAITS, waits, side="right")]
    chances = chances + np.where(number == 1, _REWRITE_SECOND_TURN, 0.0)
    outputs = _OUTPUT.at(source.scores(count, _OUTPUT_KIN))
    return _Plan(outputs.astype(np.int64), added.astype(np.int64), waits.round(1), rng.random(count) < chances, window)


def _turns(source: _Source, first: int, prefix: tuple[Run, ...], plan: _Plan) -> Iterator[Turn]:
    """Play a plan.

    Args:
        source: Where ids come from.
        first: Length of the first prompt, in tokens.
        prefix: The blocks that every prompt of the session begins with.
        plan: What happens.
    """
    rng, size = source.rng, source.block_size
    prompt, previous, start, wait = first, 0, 0.0, 0.0
    held, kept = prefix, length(prefix)
    for number, output in enumerate(plan.output_tokens.tolist()):
        if number:
            grown = prompt + previous + int(plan.added_tokens[number])
            wait = float(plan.waits_s[number])
            kept = max(length(prefix), length(held) - int(rng.random() < _LOST_TAIL))
            if grown > plan.window_tokens:
                grown = max(min(int(_COMPACTED.one(rng)), 3 * prompt // 4), length(prefix) * size)
                wait = max(wait, round(_COMPACTING.one(rng), 1))
                kept = length(prefix)
            elif plan.rewritten[number]:
                kept = length(prefix)
            prompt = grown
            start += wait + _ANSWER_START_S + _ANSWER_TOKEN_S * previous
        held = joined((*split(held, kept)[0], source.fresh(prompt // size - kept)))
        yield Turn(prompt, output, wait, round(start, 1), held)
        previous = output


def _sub_agents(source: _Source, parent: str, turns: tuple[Turn, ...]) -> Iterator[Session]:
    """Yield the sub-agents of a session: they open with a prompt of their own, the same for all of them."""
    rng = source.rng
    opening = round(_AGENT_FIRST.one(rng))
    shared = source.fresh(opening * 9 // 10 // source.block_size)
    for number in range(int(rng.geometric(1 / _AGENTS))):
        count = max(2, round(_AGENT_TURNS.one(rng)))
        plan = _Plan(
            _OUTPUT.at(rng.normal(size=count)).astype(np.int64),
            _AGENT_ADDED.at(rng.normal(size=count)).astype(np.int64),
            _AGENT_WAIT.at(rng.normal(size=count)).round(1),
            np.zeros(count, dtype=np.bool_),
            _LARGE_WINDOW,
        )
        caller = turns[int(rng.integers(len(turns)))]
        arrival = caller.start_s + _ANSWER_START_S + _ANSWER_TOKEN_S * caller.output_tokens
        agent = tuple(_turns(source, opening, joined((shared,)), plan))
        yield Session(f"{parent}/{number + 1}", agent, round(arrival, 1), parent)
