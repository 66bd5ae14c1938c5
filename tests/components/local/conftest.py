"""The stand-in model's parts, made once, and processes that are gone when the test is."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

# Whole, before components.local imports it lean: other tests of this process use its torch half.
import xgrammar  # noqa: F401 - imported for the order

from components.local import vocabulary as vocabularies
from components.local.generation import Generation
from components.local.grammar import Compiler
from components.local.language import Language
from components.local.model import make_model
from components.local.request import parse
from components.local.vocabulary import Vocabulary


@pytest.fixture(scope="session")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    return folder


@pytest.fixture(scope="session")
def vocabulary(model_path: Path) -> Vocabulary:
    return vocabularies.load(model_path)


@pytest.fixture(scope="session")
def language(vocabulary: Vocabulary) -> Language:
    return Language(vocabulary)


@pytest.fixture(scope="session")
def compiler(vocabulary: Vocabulary) -> Compiler:
    return Compiler(vocabulary)


class Writer:
    """Writes answers the way the worker does, to prompts given as text."""

    def __init__(self, vocabulary: Vocabulary, language: Language, compiler: Compiler) -> None:
        self.vocabulary = vocabulary
        self._language = language
        self._compiler = compiler

    def ids(self, text: str) -> list[int]:
        return list(self.vocabulary.tokenizer.encode(text, add_special_tokens=False).ids)

    def text(self, ids: list[int]) -> str:
        return str(self.vocabulary.tokenizer.decode(ids, skip_special_tokens=False))

    async def start(
        self,
        prompt: str = "<|user|>Hello<|assistant|><think>",
        *,
        guided: Mapping[str, object] | None = None,
        stop: Mapping[str, object] | None = None,
        sampling: Mapping[str, object] | None = None,
        logprobs: int | None = None,
    ) -> Generation:
        raw = {
            "token_ids": self.ids(prompt),
            "sampling_options": {"guided_decoding": guided, **(sampling or {})},
            "stop_conditions": stop or {},
            "output_options": {"logprobs": logprobs},
        }
        request = parse(raw, 262144)
        return Generation(request, self.vocabulary, self._language, await self._compiler.matcher(request.guided), 0)


@pytest.fixture(scope="session")
def writer(vocabulary: Vocabulary, language: Language, compiler: Compiler) -> Writer:
    return Writer(vocabulary, language, compiler)


class Processes:
    """Processes in groups of their own, with file discovery in a private folder and output in a file each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []
        self._modules: list[str] = []

    def start(self, module: str, *arguments: object) -> None:
        """Start `python -m MODULE ARGUMENT...`."""
        environment = os.environ | {
            "DYN_FILE_KV": str(self._folder / "kv"),
            "DYN_DISCOVERY_BACKEND": "file",
            "DYN_REQUEST_PLANE": "tcp",
            "DYN_EVENT_PLANE": "zmq",
            "PYTHONFAULTHANDLER": "1",
        }
        with (self._folder / f"{len(self._running)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *map(str, arguments)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append(process)
        self._modules.append(module)

    def running(self, module: str) -> subprocess.Popen[bytes]:
        """Return the process that was started for a module."""
        return self._running[self._modules.index(module)]

    def wait_until(self, ready: Callable[[], bool], seconds: float = 30) -> None:
        """Poll until it is ready; fail when a process has ended or the time is over."""
        deadline = time.monotonic() + seconds
        while not ready():
            ended = [process.args for process in self._running if process.poll() is not None]
            assert not ended, f"{ended} ended\n{self.output()}"
            assert time.monotonic() < deadline, f"not ready after {seconds} s\n{self.output()}"
            time.sleep(0.02)

    def output(self) -> str:
        """Return the last lines of every process."""
        logs = sorted(self._folder.glob("*.log"))
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-3000:]}" for log in logs)

    def kill(self) -> None:
        """Kill every group that is left."""
        for process in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    found = Processes(tmp_path_factory.mktemp("processes"))
    try:
        yield found
    finally:
        found.kill()


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
