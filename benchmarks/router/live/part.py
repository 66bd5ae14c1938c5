"""Our router and Dynamo's over real processes: the part ``live`` of ``python -m benchmarks.router``."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from tokenizers import Tokenizer

from benchmarks.frontend.processes import processes
from benchmarks.frontend.stack import Frontend, model_folder
from benchmarks.frontend.workload import MOCKED
from benchmarks.router.cases import LARGE, SMALL
from benchmarks.router.live.figures import Figures, after_kill, figures
from benchmarks.router.live.job import Agent, Report, Request
from benchmarks.router.live.prompts import Prompts, single_words
from benchmarks.router.live.slice import SPEED, TOKEN_SCALE, requests, take
from benchmarks.router.live.stack import POLICIES, RANKS, run
from benchmarks.router.live.table import ROWS, ROWS_AFTER_KILL, Rounds, table
from graphs.errors import Refusal
from router.replay.trace import Session, Trace

TITLE = "router over real processes"
ABOUT = (
    "Recorded sessions through real frontends, ours, Dynamo's own (`--router-mode kv`) and that with hard session "
    "affinity, in an order that rotates from round to round, each run with fresh processes: a mocked prefill engine of "
    "eight ranks and four decode workers. All get the same requests. To be met by ours: no request fails while nobody "
    "dies, and none later than 2 s after a decode worker's death."
)
ROUNDS = 3
_LAST_FAILURE_S = 2.0
_KILL_AFTER = 1 / 3
"""Share of the requests that are answered when a decode worker dies."""

Send = Callable[[Frontend, int, int | None], Report]
"""Sends the sessions: to which frontend, with how many recorded tokens of KV a rank, and when a worker dies."""


class Found(NamedTuple):
    """What was measured.

    Attributes:
        size: What each run sent, in words.
        load: The machine's load average at the end, of one minute.
        memories: By recorded tokens of KV on a rank, the figures by policy.
        kills: The figures by policy of runs in which a worker died.
    """

    size: str
    load: float
    memories: dict[int, Rounds]
    kills: Rounds


def measure(trace: Trace, rounds: Sequence[int]) -> Found:
    """Run every policy in every round with both sizes of memory, and each once more with a worker that dies.

    Args:
        trace: The recorded sessions.
        rounds: Their numbers.

    Raises:
        Refusal: The trace has no prompt that fits.
        BenchmarkError: A process did not come up, or ended.
    """
    cut = take(trace)
    if not cut.sessions:
        raise Refusal(f"{trace.name}: no prompt in it fits a rank's memory: name another trace")
    with processes() as home:
        model = model_folder(home)
        agents = _agents(cut, home.folder, Tokenizer.from_file(str(model / "tokenizer.json")))

        def send(policy: Frontend, memory: int, kill_at: int | None) -> Report:
            begun = time.monotonic()
            report = run(policy, model, memory // TOKEN_SCALE, agents, kill_at)
            if sys.stderr.isatty():
                what = f"{policy.name}, {memory // 1000}K{', a worker dies' if kill_at else ''}"
                print(f"{what}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
            return report

        memories = {memory: _rounds(send, cut, memory, rounds) for memory in (LARGE, SMALL)}
        kill_at = max(1, int(requests(cut.sessions) * _KILL_AFTER))
        kills = {policy.name: [after_kill(send(policy, LARGE, kill_at))] for policy in POLICIES}
    return Found(_size(cut), os.getloadavg()[0], memories, kills)


def _rounds(send: Send, cut: Trace, memory: int, rounds: Sequence[int]) -> Rounds:
    found: dict[str, list[Figures]] = {policy.name: [] for policy in POLICIES}
    for number in rounds:
        first = number % len(POLICIES)
        # Another one goes first each time, so that none is always measured behind the same one.
        for policy in POLICIES[first:] + POLICIES[:first]:
            found[policy.name].append(figures(send(policy, memory, None), cut, memory * RANKS))
    return found


def _agents(cut: Trace, folder: Path, tokenizer: Tokenizer) -> list[Agent]:
    """Write the bodies of all requests; every run sends the same."""
    prompts = Prompts(cut, single_words(tokenizer), max(1, cut.block_size // TOKEN_SCALE))
    return [_agent(session, number, prompts, folder) for number, session in enumerate(cut.sessions)]


def _agent(session: Session, number: int, prompts: Prompts, folder: Path) -> Agent:
    asked = []
    for at, turn in enumerate(session.turns):
        body = {
            "model": MOCKED,
            "messages": prompts.chat(number, at),
            "max_tokens": max(1, turn.output_tokens // TOKEN_SCALE),
            "ignore_eos": True,
            "stream": True,
            "stream_options": {"include_usage": True},
            "nvext": {"extra_fields": ["worker_id"]},
        }
        file = folder / f"{number}-{at}.json"
        file.write_bytes(msgspec.json.encode(body))
        asked.append(Request(str(file), turn.think_s / SPEED))
    return Agent(f"session-{number}", (session.arrival_s or 0.0) / SPEED, asked)


def _size(cut: Trace) -> str:
    lengths = [turn.input_tokens for session in cut.sessions for turn in session.turns]
    mean = sum(lengths) / len(lengths) / 1000
    return f"{len(cut.sessions)} sessions, {len(lengths)} requests of {mean:.0f}K recorded tokens on average"


def report(found: Found) -> str:
    """Write the tables, and under them what they are of."""
    every = [each for by_policy in found.memories.values() for runs in by_policy.values() for each in runs]
    apart = max(abs(each["metered reuse"] - each["reuse"]) for each in every)
    lost = sum(each["lost"] for each in every)
    parts = [
        table(f"{memory // 1000}K tokens of KV a rank", ROWS, by_policy) for memory, by_policy in found.memories.items()
    ]
    parts.append(table(f"a decode worker is killed, {LARGE // 1000}K", ROWS_AFTER_KILL, found.kills))
    parts.append(
        f"{found.size}. One token stands for {TOKEN_SCALE} recorded ones, in prompts, answers and KV; one second for "
        f"{SPEED:g}, also for the two times that our policy has. Reuse is `usage.prompt_tokens_details.cached_tokens` "
        "over `prompt_tokens` of all answers; the prefill ranks' forward-pass metrics, of which the balance is, differ "
        f"from it by {apart:.3f} at most ({lost:g} of their messages were lost). The mocked ranks do not wait for each "
        "other as real ones do, so imbalance costs little time here. TTFT is of this machine, which the client shares, "
        f"with a load average of {found.load:.1f} at the end. Moves are counted by `nvext.worker_id` of Dynamo's "
        "answers, and by the metrics of ours."
    )
    return "\n\n".join(parts)


def met(found: Found) -> bool:
    """Whether our policy keeps what is promised."""
    ours = POLICIES[0].name
    runs = [each for by_policy in found.memories.values() for each in by_policy[ours]]
    in_time = all(each["last failure"] <= _LAST_FAILURE_S for each in found.kills[ours])
    return in_time and not any(each["failures"] for each in runs)
