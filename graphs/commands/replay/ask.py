"""What a person asks of a replay, checked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graphs.commands.replay.sources import open_trace
from graphs.errors import Refusal
from graphs.nearest import did_you_mean
from router.replay.baselines import POLICIES
from router.replay.cluster import Load
from router.replay.generator import generate
from router.replay.select import sample, truncate
from router.replay.trace import Trace

_SPACING = "0.7"
_SESSIONS = 64


@dataclass(frozen=True)
class Ask:
    """Which sessions, policies and loads.

    Attributes:
        trace: Where the sessions are; None makes them up.
        policies: Names of what is compared.
        sessions: How many; None takes all of a trace.
        turns: Most turns of each; None takes all.
        seeds: One run each.
        loads: How sessions arrive, several for a sweep.
        plot: Where to draw it, if at all.
    """

    trace: Path | None
    policies: tuple[str, ...]
    sessions: int | None
    turns: int | None
    seeds: tuple[int, ...]
    loads: tuple[Load, ...]
    plot: Path | None

    def check(self) -> None:
        """See that every policy exists and is named once.

        Raises:
            Refusal: One does not, or is not.
        """
        for name in self.policies:
            if name not in POLICIES:
                raise Refusal(f"--policy {name}: {did_you_mean(name, list(POLICIES))}")
            if self.policies.count(name) > 1:
                raise Refusal(f"--policy {name}: name it once")


def load_of(
    arrivals: Literal["spaced", "poisson", "recorded"], spacing_s: str | None, think_cap_s: float | None
) -> tuple[Load, ...]:
    """Make the loads of a replay: one, or one for each of several spacings.

    Raises:
        Refusal: A spacing is no time, or means nothing with these arrivals.
    """
    if arrivals == "recorded":
        if spacing_s is not None:
            raise Refusal(f"--spacing-s {spacing_s}: recorded arrivals have their own times: leave out one of the two")
        return (Load("recorded", think_cap_s=think_cap_s),)
    spacings = [_seconds(word, spacing_s) for word in (spacing_s or _SPACING).split(",")]
    return tuple(Load(arrivals, spacing, think_cap_s) for spacing in dict.fromkeys(spacings))


def trace_of(ask: Ask, source: Trace | None, seed: int) -> Trace:
    """Choose or make up the sessions of one seed.

    Args:
        ask: What is asked.
        source: The trace that was read, None to make one up.
        seed: Equal seeds give equal sessions.
    """
    if source is None:
        chosen = generate(ask.sessions or _SESSIONS, seed)
    else:
        chosen = source if ask.sessions is None else sample(source, ask.sessions, seed)
    return chosen if ask.turns is None else truncate(chosen, ask.turns)


def source_of(ask: Ask) -> Trace | None:
    """Read the trace, if one is named.

    Raises:
        Refusal: It cannot be read, or does not say when its sessions arrive although that is asked.
    """
    source = None if ask.trace is None else open_trace(ask.trace)
    if ask.loads[0].arrivals == "recorded" and not _has_arrivals(source):
        where = ask.trace or "a made-up trace"
        raise Refusal(f"--arrivals recorded: {where} does not say when sessions arrive: take spaced or poisson")
    return source


def _has_arrivals(source: Trace | None) -> bool:
    if source is None:
        return False
    return all(session.arrival_s is not None for session in source.sessions if session.parent is None)


def _seconds(word: str, given: str | None) -> float:
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not 0.0 < value < float("inf"):
        raise Refusal(f"--spacing-s {given}: {word!r} is no time: write seconds above 0, such as 0.7 or 10,5,2")
    return value
