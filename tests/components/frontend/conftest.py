"""The stand-in model's folder, which has GLM's format, and a real frontend over a worker that says what it is told."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tokenizers import Tokenizer

from components.frontend.model import ServedModel
from components.local.model import make_model


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    make_model(path)
    return path


@pytest.fixture(scope="session")
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.fixture(scope="session")
def model(folder: Path) -> ServedModel:
    return ServedModel(folder, "glm")


class Endpoint:
    """A running frontend over one scripted worker."""

    def __init__(self, url: str, client: "httpx2.Client") -> None:
        self.url = url
        self._client = client

    def post(self, body: dict[str, Any], path: str = "chat/completions") -> "httpx2.Response":
        return self._client.post(f"{self.url}/v1/{path}", json={"model": "glm", **body})

    def metrics(self) -> str:
        return self._client.get(f"{self.url}/metrics").text

    def router_state(self) -> dict[str, Any]:
        """Return what the router knows of the one model."""
        answer = self._client.get(f"{self.url}/router/state")
        assert answer.status_code == 200, answer.text
        state: dict[str, Any] = answer.json()["models"]["glm"]
        return state

    def say(self, text: str, told: dict[str, Any] | None = None, **body: Any) -> "httpx2.Response":
        """Make the model answer ``text``; the prompt opens no reasoning unless the body says so."""
        content = json.dumps({"say": text, **(told or {})})
        body.setdefault("chat_template_kwargs", {"enable_thinking": False})
        return self.post({"messages": [{"role": "user", "content": content}], **body})

    def chunks(self, text: str, told: dict[str, Any] | None = None, **body: Any) -> list[dict[str, Any]]:
        """Return the chunks of the streamed answer ``text``."""
        answer = self.say(text, told, stream=True, **body)
        assert answer.status_code == 200, answer.text
        events = [line.removeprefix("data: ") for line in answer.text.split("\n") if line.startswith("data: ")]
        assert events.pop() == "[DONE]"
        return [json.loads(event) for event in events]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_served(url: str, processes: list["subprocess.Popen[bytes]"]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert all(process.poll() is None for process in processes), "a process of the test ended"
        with contextlib.suppress(httpx2.HTTPError):
            if "glm" in httpx2.get(f"{url}/v1/models", timeout=1).text:
                return
        time.sleep(0.05)
    pytest.fail("the frontend did not list the model within 30 s")


@pytest.fixture(scope="session")
def endpoint(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    store = tmp_path_factory.mktemp("store")
    planes = {"DYN_DISCOVERY_BACKEND": "file", "DYN_REQUEST_PLANE": "tcp", "DYN_EVENT_PLANE": "zmq"}
    env = {**os.environ, **planes, "DYN_FILE_KV": str(store), "HF_HUB_OFFLINE": "1", "DYN_LOG": "error"}
    port = free_port()
    commands = [
        [sys.executable, str(Path(__file__).with_name("scripted_worker.py")), str(folder)],
        [sys.executable, "-m", "components.frontend", "--http-port", str(port), "--router-mode", "round-robin"],
    ]
    processes = [subprocess.Popen(command, env=env, start_new_session=True) for command in commands]
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_served(url, processes)
        with httpx2.Client(timeout=30) as client:
            yield Endpoint(url, client)
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
