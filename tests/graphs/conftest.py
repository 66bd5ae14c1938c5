from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import graphs
from graphs import overrides, yamlfile
from graphs.config import Config, resolve
from graphs.machine import Machine
from graphs.model import Graph
from graphs.plan import make_plan
from graphs.process import Plan, ProcessSpec

Resolve = Callable[..., Config]


@pytest.fixture
def glm53() -> Graph:
    return replace(graphs.glm53, name="glm53")


@pytest.fixture
def configure(glm53: Graph, tmp_path: Path) -> Resolve:
    """Resolves glm53 with a file's text, by default that of configs/local.yaml, and words of a command line."""

    def build(*words: str, text: str | None = None, graph: Graph = glm53) -> Config:
        if text is None:
            assert graph.config is not None
            text = graph.config.read_text()
        path = tmp_path / "graph.yaml"
        path.write_text(text)
        return resolve(graph, yamlfile.read(path), overrides.split(words)[1])

    return build


@pytest.fixture
def lay_out() -> Callable[..., Plan]:
    """Plans a configuration for a machine with so many GPUs and ports counted up from 20000."""

    def build(config: Config, *, gpus: int = 0, only: str | None = None) -> Plan:
        machine = Machine(tuple(range(gpus)), tuple(range(20000, 20400)))
        return make_plan(config, machine, Path("/run/graph"), only=only)

    return build


def process(plan: Plan, name: str) -> ProcessSpec:
    return {each.name: each for each in plan.processes}[name]
