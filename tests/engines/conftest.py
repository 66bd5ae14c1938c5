"""Real engines under test, in the engines' environment: `make test-engines`."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.engines.miniature import ROOT, Miniature
from tests.live.chat import Chat

Start = Callable[..., Miniature]


def pytest_configure() -> None:
    if find_spec("vllm") is None:
        raise pytest.UsageError("tests/engines need vLLM 0.31.0: run them with `make test-engines`")


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the tiny models and their weights."""
    folder = tmp_path_factory.mktemp("models")
    command = [sys.executable, str(ROOT / "scripts" / "tiny_models.py"), str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return folder


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all engines share."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="session")
def serve(models: Path, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Gives the graph of a configuration: the running one, or another after that has ended; two would not fit.

    Modules that use one configuration stand together in the alphabet, so each graph starts once.
    """
    running: dict[tuple[str, ...], Miniature] = {}

    def end() -> None:
        while running:
            _, graph = running.popitem()
            try:
                code = graph.stop(signal.SIGTERM)
                assert code == 0, graph.tail()
                graph.assert_nothing_left()
            finally:
                graph.destroy()

    def start(config: str, *overrides: str) -> Miniature:
        wanted = (config, *overrides)
        if wanted not in running:
            end()
            model = models / config.replace("cpu", "tiny")
            running[wanted] = Miniature(tmp_path_factory.mktemp(config), config, model, shared, *overrides)
            running[wanted].wait_until_ready()
        return running[wanted]

    try:
        yield start
        end()
    finally:
        for graph in running.values():
            graph.destroy()


@pytest.fixture(scope="module")
def dense(serve: Start) -> Miniature:
    """Two prefill engines and two decoders of a dense model."""
    return serve("cpu-dense")


@pytest.fixture(scope="module")
def wide(serve: Start) -> Miniature:
    """One engine of each stage, for as many requests at once as half of two cores are good for."""
    sides = ("Prefill", "Decode")
    return serve(
        "cpu-dense", *(f"--{side}.{flag}" for side in sides for flag in ("ServiceArgs.workers=1", "max-num-seqs=32"))
    )


@pytest.fixture(scope="module")
def mla(serve: Start) -> Miniature:
    """A prefill engine of two data-parallel ranks and a decoder of two tensor-parallel ones, with latent attention."""
    return serve("cpu-mla")


@pytest.fixture(scope="module")
def chat(request: pytest.FixtureRequest) -> Iterator[Chat]:
    """A client of the graph that the test module names."""
    graph = request.getfixturevalue(request.module.GRAPH)
    with Chat.at(graph.url, graph.model) as chat:
        yield chat
