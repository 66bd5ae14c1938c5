"""What a person asks of a plan's ratio, checked."""

import math
import re
from pathlib import Path
from typing import Final

import msgspec

from graphs.commands.plan.engines import Planned
from graphs.errors import Refusal
from graphs.ratio.grid import Ratio
from graphs.ratio.measured import Measured, measured
from router.replay.cluster import Cluster

_RATIOS: Final = "1:1,1:2,1:3,1:4,1:5,1:6"
_RATIO: Final = re.compile(r"([1-9]\d{0,2}):([1-9]\d{0,2})")


class Numbers(msgspec.Struct, frozen=True):
    """Numbers of which any is right.

    Attributes:
        target_tok_s: E2E tok/s that each user is to have.
        think_cap_s: Longest wait between two turns; None keeps them.
        seed: Of what is made up or shuffled.
    """

    target_tok_s: float
    think_cap_s: float | None
    seed: int


class Ask(msgspec.Struct, frozen=True):
    """For which workload, and what is to be tried.

    Attributes:
        trace: Where the sessions are recorded; None where they are described.
        workload: `agents`, or means by name; None where they are recorded.
        ratios: Prefill engines to decode engines.
        sessions: Sessions at once; empty to choose them by what is thought to be the most.
        numbers: Speed, waits and seed.
        measured: What the times are made of.
        plot: Where to draw it, if at all.
    """

    trace: Path | None
    workload: str | None
    ratios: tuple[Ratio, ...]
    sessions: tuple[int, ...]
    numbers: Numbers
    measured: Measured
    plot: Path | None


def ask(
    trace: Path | None,
    workload: str | None,
    ratios: str | None,
    sessions: str | None,
    *,
    given: list[str],
    numbers: Numbers,
    plot: Path | None,
) -> Ask:
    """Check what is asked; paths are made absolute before the working directory becomes another.

    Args:
        trace: As `--trace` has it.
        workload: As `--workload` has it.
        ratios: As `--ratios` has it; None for 1:1 to 1:6.
        sessions: As `--sessions` has it.
        given: All of `--measured`.
        numbers: What was checked already.
        plot: As `--plot` has it.

    Raises:
        Refusal: Two workloads are, or a ratio, a number of sessions, a wait or a measurement is none.
    """
    if numbers.think_cap_s == math.inf:
        raise Refusal("--think-cap-s inf: leave it out, and waits are as they are")
    if trace is not None and workload is not None:
        raise Refusal(f"--workload {workload}: the sessions are those of --trace {trace}: leave out one of the two")
    return Ask(
        trace.absolute() if trace else None,
        workload,
        tuple(dict.fromkeys(_ratio(word, ratios) for word in (ratios or _RATIOS).split(","))),
        tuple(sorted({_count(word, sessions) for word in sessions.split(",")})) if sessions else (),
        numbers,
        measured(given),
        plot.absolute() if plot else None,
    )


def sides(engines: list[Planned]) -> tuple[Planned, Planned]:
    """Return the one prefill and the one decode engine of a plan.

    Raises:
        Refusal: A side is missing or spread over several services, or has no memory for KV.
    """
    found = []
    for role in ("prefill", "decode"):
        side = [each for each in engines if each.engine.role == role]
        if len(side) != 1:
            names = " and ".join(each.engine.name for each in side) or "none"
            raise Refusal(f"a ratio needs one {role} service that runs vLLM, and there is {names}")
        if not side[0].ladder.gpu_tokens:
            raise Refusal(f"{side[0].engine.name}: does not fit: see its memory without a workload first")
        found.append(side[0])
    return found[0], found[1]


def cluster(prefill: Planned, decode: Planned, decode_slots: int) -> Cluster:
    """Return the graph to replay, its memory that of the ladders."""
    ranks = prefill.ladder.topology
    return Cluster(
        prefill_engines=prefill.engines,
        prefill_ranks=ranks.data,
        rank_gpus=ranks.gpus // ranks.data,
        rank_kv_tokens=prefill.ladder.engine_tokens // ranks.data,
        decode_engines=decode.engines,
        decode_gpus=decode.ladder.topology.gpus,
        decode_kv_tokens=decode.ladder.engine_tokens,
        decode_slots=decode_slots,
        host_tokens=sum(tier.tokens * (1 if tier.common else prefill.engines) for tier in prefill.tiers),
    )


def _ratio(word: str, given: str | None) -> Ratio:
    found = _RATIO.fullmatch(word.strip())
    if found is None:
        raise Refusal(f"--ratios {given}: {word!r}: write PREFILL:DECODE engines, such as 1:2,1:4")
    return Ratio(int(found[1]), int(found[2]))


def _count(word: str, given: str) -> int:
    if not word.strip().isdecimal() or not 0 < int(word) <= _MOST_SESSIONS:
        raise Refusal(f"--sessions {given}: {word!r}: write numbers of sessions at once, such as 30,66,120")
    return int(word)


_MOST_SESSIONS: Final = 10_000
