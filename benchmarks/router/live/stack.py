"""The processes of one run: a mocked prefill engine of eight ranks, four decode workers, and a frontend."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.frontend.processes import Process, Processes, processes
from benchmarks.frontend.stack import DYNAMO, Frontend, running
from benchmarks.frontend.workload import MOCKED
from benchmarks.router.live.job import Agent, Job, Kill, Report
from benchmarks.router.live.slice import SPEED, TOKEN_SCALE

RANKS = 8
POLICIES = (
    Frontend("sticky", ("-m", "benchmarks.router.live.frontend", "--router-mode", "kv")),
    Frontend("kv", DYNAMO.command),
    Frontend("kv-affinity", (*DYNAMO.command, "--router-session-affinity-ttl-secs", "3600")),
)
"""Ours, Dynamo's own at its defaults, and that with hard session affinity."""

BLOCK_SIZE = 64
MOCKER_SPEED = SPEED / 40
"""The mocker takes 15 us for a token at speed 1, GLM-5.3 about 83 (`router/costs.py`), 8 of which are one here."""
BUDGET_TOKENS = 2048
_DECODERS = 4
_DECODE_MS = f"{14.0 * TOKEN_SCALE / SPEED:.1f}"


def run(policy: Frontend, model: Path, rank_kv_tokens: int, agents: Sequence[Agent], kill_at: int | None) -> Report:
    """Start fresh processes, send them the sessions, and leave nothing behind.

    Args:
        policy: The frontend.
        model: Folder of the stand-in model.
        rank_kv_tokens: KV of one prefill rank, in tokens of the prompts that are sent.
        agents: The sessions.
        kill_at: Number of answers after which a decode worker dies; None for a run without deaths.

    Raises:
        BenchmarkError: If a process does not come up, or ends unasked.
    """
    with processes() as group:
        victim = _start_workers(group, model, rank_kv_tokens // BLOCK_SIZE)
        with running(group, policy, (MOCKED,)) as (port, _):
            kill = None if kill_at is None else Kill(victim.pid, kill_at)
            file = group.folder / "job.json"
            file.write_bytes(msgspec.json.encode(Job(port, RANKS, list(agents), kill)))
            output = group.run("the client", ["-m", "benchmarks.router.live.client", str(file)])
            if kill is None:
                group.check()
    return msgspec.json.decode(output, type=Report)


def _start_workers(group: Processes, model: Path, rank_blocks: int) -> Process:
    """Start the workers and return the last decode worker's process."""
    named = ["--model-path", str(model), "--model-name", MOCKED, "--block-size", f"{BLOCK_SIZE}"]
    prefill = ["-m", "dynamo.mocker", *named, "--disaggregation-mode", "prefill", "--data-parallel-size", f"{RANKS}"]
    prefill += ["--num-gpu-blocks-override", f"{rank_blocks}", "--max-num-batched-tokens", f"{BUDGET_TOKENS}"]
    group.start("prefill", [*prefill, "--max-num-seqs", "64", "--speedup-ratio", f"{MOCKER_SPEED}"])
    decode = ["-m", "components.local", *named, "--inter-token-latency-ms", _DECODE_MS]
    return [group.start(f"decode-{number}", decode) for number in range(_DECODERS)][-1]
