import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs.process import Plan, ProcessSpec
from graphs.supervisor.log import Log
from graphs.supervisor.output import Output
from tests.graphs.supervisor.harness import Graph, destroy, launch


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Graph]]:
    """Starts graphs, and ends them with the test."""
    graphs: list[Graph] = []

    def start(*specs: ProcessSpec, **options: Any) -> Graph:
        graphs.append(launch(tmp_path, *specs, **options))
        return graphs[-1]

    yield start
    for graph in graphs:
        destroy(graph)


@pytest.fixture
def log() -> Iterator[Log]:
    """A log that nobody reads."""
    with Path(os.devnull).open("wb") as null:
        silent = Log(Plan("test", (), Path("/none")), Output(null.fileno(), lambda: None), terminal=False, colour=False)
        yield silent
        silent.close()
