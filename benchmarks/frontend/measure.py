"""One frontend measured once: phases sent, figures out."""

import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.frontend import script
from benchmarks.frontend.corpus import Corpus
from benchmarks.frontend.load import Job, Phase, PhaseResult
from benchmarks.frontend.processes import BenchmarkError, Processes
from benchmarks.frontend.stack import DYNAMO, FLOOR, MODELS, OURS, UNCACHED, Frontend, running
from benchmarks.frontend.workload import SIZES, STREAMS, Amount, Workload

Figures = dict[str, float]

_FLOOR_STREAMS = ("text-1", "text-8")
_LENGTH_TOLERANCE = 0.05


def measure(processes: Processes, frontend: Frontend, corpus: Corpus, amount: Amount, seed: str) -> Figures:
    """Start a frontend, send it its phases and return its figures.

    Raises:
        BenchmarkError: If it does not come up, or an answer is refused or cut off.
    """
    folder = processes.folder / "bodies"
    folder.mkdir()
    try:
        phases = _phases(frontend, Workload(corpus, folder, seed), amount)
        with running(processes, frontend) as (port, pid):
            results = send(processes, Job(port, pid, phases))
    finally:
        shutil.rmtree(folder)
    figures: Figures = {}
    for result in results:
        figures |= figures_of(result)
    return figures


def send(processes: Processes, job: Job) -> list[PhaseResult]:
    """Let the client run a job.

    Raises:
        BenchmarkError: If an answer is refused or cut off.
    """
    file = Path(job.phases[0].bodies[0]).with_name("job.json")
    file.write_bytes(msgspec.json.encode(job))
    output = processes.run("the client", ["-m", "benchmarks.frontend.client", str(file)])
    results = msgspec.json.decode(output, type=list[PhaseResult])
    processes.check()
    for result in results:
        if result.error is not None:
            raise BenchmarkError(f"{result.name}: {result.error}")
    return results


def _phases(frontend: Frontend, workload: Workload, amount: Amount) -> list[Phase]:
    phases = [workload.warm_up(list(MODELS))]
    if frontend in (OURS, DYNAMO, UNCACHED):
        phases += [workload.first_tokens(size, amount.samples) for size in SIZES]
    if frontend in (OURS, DYNAMO):
        for size, conversations in amount.conversations.items():
            phases += workload.prompts(size, conversations)
    if frontend != UNCACHED:
        streams = _FLOOR_STREAMS if frontend == FLOOR else STREAMS
        phases += [workload.streams(stream, amount.streams) for stream in streams]
    return phases


def figures_of(result: PhaseResult) -> Figures:
    """Return a phase's figures under ``figure/what`` keys: ms, requests/s, tokens/s and ms of CPU a request.

    Raises:
        BenchmarkError: If a prompt has not the length it should have, or calls are missing.
    """
    kind, _, what = result.name.partition("/")
    if kind == "ttft":
        return _first_tokens(what, result)
    if kind == "prompts":
        count = len(result.requests)
        return {f"rps/{what}": count / result.seconds, f"cpu-ms/{what}": result.cpu_seconds * 1e3 / count}
    if kind == "streams":
        return _stream(what, result)
    return {}


def _first_tokens(size: str, result: PhaseResult) -> Figures:
    figures: Figures = {}
    for turn, requests in (("first", result.requests[::2]), ("second", result.requests[1::2])):
        times = [request.ttft_ms for request in requests]
        figures[f"ttft-p50/{size}/{turn}"] = statistics.median(times)
        figures[f"ttft-p90/{size}/{turn}"] = percentile(times, 0.9)
    length = statistics.mean(request.answer.prompt_tokens for request in result.requests[::2])
    if abs(length / SIZES[size] - 1) > _LENGTH_TOLERANCE:
        raise BenchmarkError(f"prompts of {size} tokens had {length:.0f}")
    return figures


def _stream(stream: str, result: PhaseResult) -> Figures:
    if stream.startswith("calls"):
        for request in result.requests:
            if request.answer.calls != script.CALL_COUNT:
                raise BenchmarkError(f"{stream}: {request.answer.calls} calls arrived of {script.CALL_COUNT}")
    tokens = result.completion_tokens
    return {
        f"tps/{stream}": tokens / result.seconds,
        f"tps-core/{stream}": tokens / result.cpu_seconds,
        f"chunks/{stream}": sum(request.answer.chunks for request in result.requests) / len(result.requests),
        f"tokens/{stream}": tokens / len(result.requests),
    }


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that the share of all values does not exceed, interpolated between neighbours."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
