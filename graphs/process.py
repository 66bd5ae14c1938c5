"""One operating-system process of a graph: what the plan writes and the supervisor reads.

A `Plan` is data. Nothing in it starts, probes or waits; the supervisor does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Started:
    """Ready as soon as the process runs."""


@dataclass(frozen=True)
class PortReady:
    """Ready when `host:port` accepts a TCP connection."""

    host: str
    port: int


@dataclass(frozen=True)
class HttpReady:
    """Ready when a GET of `url` answers 200; every other answer, and none, means not yet."""

    url: str


@dataclass(frozen=True)
class ChatReady:
    """Ready when `{url}/v1/models` lists `model` and a chat completion of one token answers 200.

    Probed last, once every other process of the plan is ready: a decode worker answers before the prefill worker is
    there, so an earlier 200 would not mean a whole graph.

    Attributes:
        url: Base without a trailing slash, such as `http://127.0.0.1:8000`.
        model: The model name to ask for.
    """

    url: str
    model: str


Ready = Started | PortReady | HttpReady | ChatReady

# "backoff": start it again, waiting longer each time. "fail": its death brings the graph down.
Restart = Literal["backoff", "fail"]


@dataclass(frozen=True)
class ProcessSpec:
    """One process of the graph.

    Attributes:
        name: Unique in the plan, such as `Decode-0`; it prefixes the process's log lines.
        service: The service of the graph that it is a replica of.
        replica: Its number within the service, from 0.
        argv: The command; the first word is an absolute path.
        env: What is added to the supervisor's own environment, `CUDA_VISIBLE_DEVICES` included.
        gpus: Indices of the GPUs that it owns.
        ports: The ports that it was given, by what they are for.
        after: Names of processes that must be ready before it starts.
        ready: How to see that it is ready.
        ready_limit_s: Seconds from its start within which it must be ready.
        stop_rank: Lower ranks are stopped first, and gone before the next rank is asked; equal ranks together.
        drain_limit_s: Seconds between SIGTERM and SIGKILL.
        restart: What its death means.
        lost: Text of a line of its output by which it says that it lives and nobody finds it any more; it is stopped
            then, and its death means what any does. None where there is no such line.
    """

    name: str
    service: str
    replica: int
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    gpus: tuple[int, ...] = ()
    ports: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    ready: Ready = Started()
    ready_limit_s: float = 60.0
    stop_rank: int = 0
    drain_limit_s: float = 10.0
    restart: Restart = "backoff"
    lost: str | None = None


@dataclass(frozen=True)
class Plan:
    """The processes of a graph on this machine, in the order in which they start.

    Attributes:
        graph: Name of the graph, such as `glm53`.
        processes: In start order; `after` names only earlier ones.
        run_dir: Private folder of this run: discovery store, stand-in model. It is removed when all have ended.
        files: What must be written first, by path in `run_dir`.
        stand_in: Folder in `run_dir` where the stand-in model must be made first, or None when a real model is used.
        url: Base URL of the frontend, or None when this machine runs none.
        model: The model name to ask for, or None when no service has one.
    """

    graph: str
    processes: tuple[ProcessSpec, ...]
    run_dir: Path
    files: Mapping[Path, str] = field(default_factory=dict)
    stand_in: Path | None = None
    url: str | None = None
    model: str | None = None
