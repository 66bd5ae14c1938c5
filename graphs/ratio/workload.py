"""The sessions that a plan is made for: recorded, made up, or described by a few means."""

import math
import random
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import msgspec

from graphs.errors import Refusal
from graphs.nearest import did_you_mean
from router.replay.runs import Seen
from router.replay.trace import Session, Trace, Turn

_BLOCK: Final = 64
_MOST: Final = 10_000_000
_MOST_TURNS: Final = 2_000
_LEAST_S: Final = 0.02
"""What a turn takes before its tokens, at least: a prefill step and a transfer."""

_DEFAULTS: Final[Mapping[str, float]] = MappingProxyType(
    {"turns": 60, "new": 1_200, "context": 140_000, "output": 440, "think": 10}
)


class Demand(msgspec.Struct, frozen=True):
    """Means over the turns of a workload.

    Attributes:
        turns: Turns of a session.
        prompt_tokens: Length of a prompt.
        new_tokens: Tokens of it that an endless cache would not have.
        context_new_tokens: Mean over turns of new tokens times their context.
        output_tokens: Length of an answer.
        think_s: Time from an answer to the next turn, seconds.
    """

    turns: float
    prompt_tokens: float
    new_tokens: float
    context_new_tokens: float
    output_tokens: float
    think_s: float

    @property
    def reuse_ratio(self) -> float:
        """Share of prompt tokens that an endless cache would have."""
        return 1 - self.new_tokens / self.prompt_tokens


def demand(trace: Trace, think_cap_s: float | None) -> Demand:
    """Take the means of a trace, each wait at most `think_cap_s`."""
    seen, block = Seen(), trace.block_size
    turns = [turn for session in trace.sessions for turn in session.turns]
    new, with_context = 0, 0.0
    for turn in turns:
        fresh = seen.add(turn.blocks) * block + turn.input_tokens % block
        new += fresh
        with_context += fresh * (turn.input_tokens - fresh / 2)
    cap = math.inf if think_cap_s is None else think_cap_s
    waits = [min(later.think_s, cap) for each in trace.sessions for _, later in pairwise(each.turns)]
    count = len(turns)
    return Demand(
        turns=count / len(trace.sessions),
        prompt_tokens=sum(turn.input_tokens for turn in turns) / count,
        new_tokens=new / count,
        context_new_tokens=with_context / count,
        output_tokens=sum(turn.output_tokens for turn in turns) / count,
        think_s=sum(waits) / max(1, len(waits)),
    )


def described(text: str, sessions: int, seed: int) -> Trace:
    """Make sessions up from means: `turns=60,new=1200,context=140000,output=440,think=10`; what is left out is so.

    A session's first prompt is such that its mean prompt is `context`; each further one has `new` tokens more, the
    answer before it among them. Lengths and waits are drawn from exponential distributions of these means, and
    sessions share nothing.

    Args:
        text: The means, by name.
        sessions: How many.
        seed: Of what is drawn.

    Raises:
        Refusal: A name is not known, a number is none, or they contradict each other.
    """
    means = _means(text)
    grown = means["new"] * (means["turns"] - 1) / 2
    first = means["context"] - grown
    if means["turns"] > _MOST_TURNS:
        raise Refusal(f"--workload {text}: turns are of one session: {_MOST_TURNS:,} at most")
    if means["new"] < means["output"]:
        raise Refusal(f"--workload {text}: new counts the answer before it, so it is at least output")
    if first < means["new"]:
        least = grown + means["new"]
        raise Refusal(
            f"--workload {text}: sessions grow by {2 * grown:,.0f} tokens: context must be {least:,.0f} or more"
        )
    chance = random.Random(seed)  # noqa: S311 - a load, not a secret.
    made, top = [], 0
    for number in range(sessions):
        turns, top = _session(means, first, top, chance)
        made.append(Session(f"described-{number}", turns))
    return Trace("described sessions", _BLOCK, tuple(made))


def _means(text: str) -> dict[str, float]:
    found = dict(_DEFAULTS)
    for each in text.split(","):
        name, _, number = each.partition("=")
        if name not in found:
            raise Refusal(f"--workload {text}: {name!r}: {did_you_mean(name, [*_DEFAULTS, 'agents'])}")
        try:
            found[name] = float(number)
        except ValueError:
            found[name] = math.nan
        least = 0 if name == "think" else 1
        if not least <= found[name] <= _MOST:
            raise Refusal(
                f"--workload {text}: {each}: write NAME=NUMBER, {least} or more, such as {name}={_DEFAULTS[name]}"
            )
    return found


def _session(means: Mapping[str, float], first: float, top: int, chance: random.Random) -> tuple[tuple[Turn, ...], int]:
    """Make one session whose blocks are numbered from `top` on; returns its turns and the next free number."""

    def drawn(mean: float) -> float:
        return chance.expovariate(1 / mean) if mean else 0.0

    turns: list[Turn] = []
    prompt, answer, added = first * chance.uniform(0.5, 1.5), 0, means["new"] - means["output"]
    for number in range(round(means["turns"])):
        if number:
            prompt += answer + drawn(added)
        answer = max(1, round(drawn(means["output"])))
        blocks = int(prompt) // _BLOCK
        runs = ((top, blocks),) if blocks else ()
        turns.append(Turn(max(1, int(prompt)), answer, drawn(means["think"]) if number else 0.0, 0.0, runs))
    return tuple(turns), top + int(prompt) // _BLOCK


def lasting(
    trace: Trace, sessions: int, seconds: float, token_s: float, *, think_cap_s: float | None, seed: int
) -> Trace:
    """Shuffle a trace's sessions, and repeat them with blocks of their own until so many can be held for so long.

    Args:
        trace: The sessions, sub-agents behind their parents.
        sessions: How many at once.
        seconds: For how long.
        token_s: The least that a token of an answer takes.
        think_cap_s: Longest wait between two turns; None keeps the recorded ones.
        seed: Of the order.
    """
    families = list(_families(trace))
    runs = (run for each in trace.sessions for turn in each.turns for run in turn.blocks)
    top = max((first + count for first, count in runs), default=0)
    cap = math.inf if think_cap_s is None else think_cap_s
    chance = random.Random(seed)  # noqa: S311 - an order to repeat, not a secret.
    made: list[Session] = []
    held_s, copy, begun = 0.0, 0, 0
    # Twice as long as it takes: a session that ends early must find the next one.
    while begun < sessions or held_s < 2 * sessions * seconds:
        place = begun % len(families)
        if not place:
            chance.shuffle(families)
            copy = begun // len(families)
        made += _copy(families[place], copy, top)
        turns = families[place][0].turns
        held_s += sum(_LEAST_S + turn.output_tokens * token_s + min(turn.think_s, cap) for turn in turns)
        begun += 1
    return msgspec.structs.replace(trace, sessions=tuple(made))


def _families(trace: Trace) -> Iterator[list[Session]]:
    family: list[Session] = []
    for session in trace.sessions:
        if session.parent is None and family:
            yield family
            family = []
        family.append(session)
    yield family


def _copy(family: list[Session], copy: int, top: int) -> Iterator[Session]:
    if not copy:
        yield from family
        return
    for session in family:
        turns = tuple(
            msgspec.structs.replace(turn, blocks=tuple((first + copy * top, count) for first, count in turn.blocks))
            for turn in session.turns
        )
        yield Session(
            f"{session.session_id}#{copy}",
            turns,
            session.arrival_s,
            None if session.parent is None else f"{session.parent}#{copy}",
        )
