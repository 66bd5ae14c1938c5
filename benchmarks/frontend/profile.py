"""Where the time of our frontend goes: by stage, and by thread beside the floor and Dynamo's own frontend."""

import os
import signal
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.frontend.corpus import Corpus
from benchmarks.frontend.load import Job, Phase, PhaseResult
from benchmarks.frontend.measure import send
from benchmarks.frontend.processes import BenchmarkError, Processes
from benchmarks.frontend.profiled import STAGES, Stage
from benchmarks.frontend.stack import DYNAMO, FLOOR, MODELS, Frontend, running
from benchmarks.frontend.workload import SIZES, STREAMS, Workload

_TICK_US = 1e6 / os.sysconf("SC_CLK_TCK")
_REPORT_LIMIT_S = 5
_STREAM_COUNT = 96
_CONVERSATIONS = 8
_PER_CHUNK = ("take outputs", "detokenize", "stop strings", "parser", "reply's own", "build chunks")
_PER_REQUEST = tuple(name for name in STAGES if name not in _PER_CHUNK)

Stages = dict[str, Stage]


@dataclass(frozen=True)
class Profiled:
    """One phase of one frontend.

    Attributes:
        result: What the client saw.
        main_us: CPU of the main thread, where Python's event loop runs, in us.
        other_us: CPU of all other threads: Rust's, and ours that prepare requests.
        stages: What was spent in each stage, none for a frontend without a clock.
    """

    result: PhaseResult
    main_us: float
    other_us: float
    stages: Stages


def profile(processes: Processes, corpus: Corpus) -> tuple[str, Any]:
    """Return the profile as Markdown, and its figures."""
    file = processes.folder / "stages.jsonl"
    clocked = Frontend("profiled", ("-m", "benchmarks.frontend.profiled", str(file), "--router-mode", "kv"))
    streams: dict[str, dict[str, Profiled]] = {}
    prompts: dict[str, Profiled] = {}
    for frontend in (clocked, FLOOR, DYNAMO):
        folder = processes.folder / frontend.name
        folder.mkdir()
        workload = Workload(corpus, folder, f"{os.getpid()}/{frontend.name}")
        with running(processes, frontend) as (port, pid):
            observe = _Observer(processes, port, pid, file if frontend is clocked else None)
            observe(workload.warm_up(list(MODELS)))
            streams[frontend.name] = {name: observe(workload.streams(name, _STREAM_COUNT)) for name in STREAMS}
            if frontend is clocked:
                for size in SIZES:
                    first, second = workload.prompts(size, _CONVERSATIONS, concurrency=1)
                    prompts |= {f"{size} first": observe(first), f"{size} second": observe(second)}
    figures = {name: {key: _figures(one) for key, one in by_stream.items()} for name, by_stream in streams.items()}
    return f"{_stream_table(streams)}\n\n{_prompt_table(prompts)}", figures


class _Observer:
    """Sends phases to one frontend and notes what they cost it."""

    def __init__(self, processes: Processes, port: int, pid: int, stages: Path | None) -> None:
        self._processes = processes
        self._port = port
        self._pid = pid
        self._stages = stages

    def __call__(self, phase: Phase) -> Profiled:
        before, (main_before, all_before) = self._snapshot(), thread_ticks(self._pid)
        (result,) = send(self._processes, Job(self._port, self._pid, [phase]))
        (main, all_), after = thread_ticks(self._pid), self._snapshot()
        stages = {
            name: Stage(stage.calls - before[name].calls, stage.ns - before[name].ns) for name, stage in after.items()
        }
        main_us = (main - main_before) * _TICK_US
        return Profiled(result, main_us, (all_ - all_before) * _TICK_US - main_us, stages)

    def _snapshot(self) -> Stages:
        """Ask the clocked frontend for its stages."""
        if self._stages is None:
            return {}
        known = _lines(self._stages)
        os.kill(self._pid, signal.SIGUSR1)
        deadline = time.monotonic() + _REPORT_LIMIT_S
        while len(lines := _lines(self._stages)) == len(known):
            if time.monotonic() > deadline:
                raise BenchmarkError(f"the clocked frontend did not report within {_REPORT_LIMIT_S} s")
            time.sleep(0.01)
        return msgspec.json.decode(lines[-1], type=Stages)


def _lines(file: Path) -> list[bytes]:
    written = file.read_bytes() if file.exists() else b""
    return written[: written.rfind(b"\n") + 1].splitlines()


def thread_ticks(pid: int) -> tuple[int, int]:
    """Return the CPU time of a process's main thread and of the whole process, in ticks, from proc(5)'s ``stat``."""
    stats = (Path(f"/proc/{pid}/task/{pid}/stat"), Path(f"/proc/{pid}/stat"))
    fields = [stat.read_text().rsplit(")", 1)[1].split() for stat in stats]
    main, whole = (int(each[11]) + int(each[12]) for each in fields)
    return main, whole


def _figures(one: Profiled) -> dict[str, float]:
    """Return us a token by part: the stages, what is left of the main thread, and the other threads."""
    tokens = one.result.completion_tokens
    stages = {name: one.stages[name].ns / 1e3 / tokens for name in _PER_CHUNK} if one.stages else {}
    return {
        **stages,
        "main thread": one.main_us / tokens,
        "other threads": one.other_us / tokens,
        "all": (one.main_us + one.other_us) / tokens,
        "chunks a request": sum(request.answer.chunks for request in one.result.requests) / len(one.result.requests),
    }


def _stream_table(streams: dict[str, dict[str, Profiled]]) -> str:
    figures = {name: {key: _figures(one) for key, one in each.items()} for name, each in streams.items()}
    ours = figures["profiled"]
    lines = _head("us of CPU a token of output")
    lines += [_line(name, [ours[stream][name] for stream in STREAMS]) for name in _PER_CHUNK]
    rest = [ours[stream]["main thread"] - sum(ours[stream][name] for name in _PER_CHUNK) for stream in STREAMS]
    lines.append(_line("rest of the main thread: event loop, crossing", rest))
    for part in ("other threads", "all"):
        for name, label in (("profiled", "ours"), ("floor", "floor"), ("dynamo", "Dynamo's")):
            lines.append(_line(f"{part}: {label}", [figures[name][stream][part] for stream in STREAMS]))
    lines.append(_line("chunks a request: ours", [ours[stream]["chunks a request"] for stream in STREAMS]))
    return "\n".join(lines)


def _head(what: str) -> list[str]:
    return [f"| {what} | {' | '.join(STREAMS)} |", f"| --- |{' --: |' * len(STREAMS)}"]


def _line(label: str, values: list[float]) -> str:
    return f"| {label} | {' | '.join(f'{value:.1f}' for value in values)} |"


def _prompt_table(prompts: dict[str, Profiled]) -> str:
    lines = [f"| ms a request | {' | '.join(prompts)} |", f"| --- |{' --: |' * len(prompts)}"]
    columns = list(prompts.values())
    lines += [_line_ms(name, [one.stages[name].ns / 1e6 for one in columns], columns) for name in _PER_REQUEST]
    waits = [statistics.mean(request.ttft_ms for request in one.result.requests) for one in columns]
    lines.append(f"| time to first token | {' | '.join(f'{value:.2f}' for value in waits)} |")
    lines.append(_line_ms("CPU, main thread", [one.main_us / 1e3 for one in columns], columns))
    lines.append(_line_ms("CPU, other threads", [one.other_us / 1e3 for one in columns], columns))
    return "\n".join(lines)


def _line_ms(label: str, totals: list[float], columns: list[Profiled]) -> str:
    each: Iterator[float] = (total / len(one.result.requests) for total, one in zip(totals, columns, strict=True))
    return f"| {label} | {' | '.join(f'{value:.2f}' for value in each)} |"
