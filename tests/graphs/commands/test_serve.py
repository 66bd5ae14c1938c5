"""`dynamo serve` as a person calls it: the commands of a dry run really run, and the graph really serves."""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs import cli
from graphs.machine import free_ports
from graphs.process import ChatReady, HttpReady, PortReady
from graphs.supervisor.probe import until_ready

KINDS = {"PortReady": PortReady, "HttpReady": HttpReady, "ChatReady": ChatReady}
DYNAMO = str(Path(sys.executable).parent / "dynamo")
SMALL = ("--Prefill.data-parallel-size=2", "--Decode.ServiceArgs.workers=1")
LIMIT_S = 60.0

OWN_GRAPH = """\
from graphs import Service, Worker, dep
from graphs.workers import mocker

# NVIDIA's own frontend in the place of ours.
stock = Worker("stock", "graphs.settings.frontend:FrontendSettings", module="dynamo.frontend", readiness="chat")
model = {"model-path": "stand-in", "model-name": "tiny", "speedup-ratio": 100}

Front = Service("Front", "frontend", (stock,))
Prefill = Service("Prefill", "prefill", (mocker("prefill"),), topology=dep(2), defaults=model)
Decode = Service("Decode", "decode", (mocker("decode"),), defaults=model)

mine = Front.link(Prefill).link(Decode)
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes, each leading its own group, that end with the test."""
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for each in processes:
        os.killpg(each.pid, signal.SIGKILL)
        each.wait()


def chat(url: str, model: str) -> dict[str, Any]:
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4}
    request = urllib.request.Request(  # noqa: S310 - it is loopback over HTTP.
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above.
        return dict(json.load(answer))


@pytest.mark.parametrize("words", [(), ("--store-path=shared",)], ids=["one machine", "several machines"])
def test_the_commands_of_a_dry_run_make_a_graph_that_answers(
    capfd: pytest.CaptureFixture[str], started: list[subprocess.Popen[bytes]], words: tuple[str, ...]
) -> None:
    port = free_ports(1)[0]
    assert (
        cli.run(["serve", "graphs:glm53", "--dry-run", "--json", f"--Frontend.http-port={port}", *SMALL, *words]) == 0
    )
    plan = json.loads(capfd.readouterr().out)
    for command in plan["prepare"]:
        subprocess.run(command, check=True, timeout=LIMIT_S)
    for each in plan["processes"]:
        env = " ".join(f"{name}={shlex.quote(value)}" for name, value in each["env"].items())
        line = f"exec env {env} {shlex.join(each['argv'])}"
        started.append(subprocess.Popen(["/bin/sh", "-c", line], start_new_session=True))
    for each in plan["processes"]:
        ready = dict(each["ready"])
        probe = KINDS[ready.pop("kind")](**ready)
        assert asyncio.run(until_ready(probe, LIMIT_S)) is None
    assert chat(plan["url"], plan["model"])["choices"][0]["finish_reason"] in {"length", "stop"}


def test_a_graph_of_ones_own_is_served_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_GRAPH)
    port = free_ports(1)[0]
    command = [DYNAMO, "serve", "mine.py", f"--Front.http-port={port}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as served:
        try:
            assert served.stdout is not None
            records = map(json.loads, served.stdout)
            ready = next(record for record in records if record.get("event") == "ready")
            assert (ready["url"], ready["model"]) == (f"http://127.0.0.1:{port}", "tiny")
            assert chat(ready["url"], "tiny")["usage"]["completion_tokens"] == 4
            served.send_signal(signal.SIGTERM)
            for _ in records:
                pass
            assert served.wait(LIMIT_S) == 0
        finally:
            if served.poll() is None:
                os.killpg(served.pid, signal.SIGKILL)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("dynamo-")] == []


def test_preflight_refuses_before_anything_starts(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--Common.model-path=/nowhere", "--Decode.block-size=32", f"--Frontend.http-port={free_ports(1)[0]}"]
    assert cli.run(["serve", "graphs:glm53", *words]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert [line.split(":")[1].strip() for line in err.splitlines()] == ["model", "KV block size"]
    assert list(tmp_path.glob("dynamo-*")) == []


def test_a_dry_run_writes_and_starts_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.run(["serve", "graphs:glm53", "--dry-run"]) == 0
    assert capfd.readouterr().out.startswith("# glm53: 6 processes, no GPU\n")
    assert list(tmp_path.iterdir()) == []


def test_origins_are_shown_alone_or_above_the_commands(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["serve", "graphs:glm53", "--origins", "--Frontend.http-port=9000"]) == 0
    alone = capfd.readouterr().out
    assert all(line.startswith("# ") for line in alone.splitlines())
    assert cli.run(["serve", "graphs:glm53", "--origins", "--dry-run", "--Frontend.http-port=9000"]) == 0
    both = capfd.readouterr().out
    assert both.startswith(alone)
    assert "-m components.frontend" in both


def test_flags_of_the_runtime_are_settings_of_the_runtime(capfd: pytest.CaptureFixture[str]) -> None:
    words = [
        "--discovery-backend=etcd",
        "--etcd-endpoints=http://a:1",
        "--event-plane=nats",
        "--nats-server=nats://b:2",
    ]
    assert cli.run(["serve", "graphs:glm53", "--dry-run", "--json", "--service-name=Decode", *words]) == 0
    plan = json.loads(capfd.readouterr().out)
    assert {each["service"] for each in plan["processes"]} == {"Decode"}
    assert plan["processes"][0]["env"]["ETCD_ENDPOINTS"] == "http://a:1"
    assert plan["settings"]["Runtime"]["nats-server"]["origin"] == "--nats-server=nats://b:2"
