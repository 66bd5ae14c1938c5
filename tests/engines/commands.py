"""The commands that `dynamo serve` renders for the vLLM workers of a configuration."""

from dataclasses import replace
from pathlib import Path

import graphs
from graphs import overrides, yamlfile
from graphs.config import Config, resolve
from graphs.machine import Machine
from graphs.plan import make_plan
from graphs.process import Plan, ProcessSpec
from tests.engines import glm53

CONFIGS = Path(graphs.__file__).parents[1] / "configs"
MODULE = ("-m", "dynamo.vllm")


def configuration(name: str, *words: str) -> Config:
    """A file of `configs/` with words of a command line."""
    path = CONFIGS / f"{name}.yaml"
    return resolve(replace(graphs.glm53, name="glm53"), yamlfile.read(path), overrides.split(words)[1])


def with_engines() -> list[str]:
    """The files of `configs/` in which vLLM runs something."""
    return [path.stem for path in sorted(CONFIGS.glob("*.yaml")) if _engines(_plan(path.stem, Path("/run/graph")))]


def workers(name: str, models: Path, run_dir: Path, *words: str) -> list[ProcessSpec]:
    """The vLLM workers of a configuration, one of each service, as for a run in `run_dir`.

    The model is that folder of `models` which is made for it, or GLM-5.3 without its weights.
    """
    tiny = models / name.replace("cpu", "tiny")
    model = tiny if tiny.is_dir() else glm53.folder(run_dir / "glm")
    plan = _plan(name, run_dir, f"--Common.model={model}", *words)
    for path, text in plan.files.items():
        path.write_text(text)
    return list({each.service: each for each in _engines(plan)}.values())


def _plan(name: str, run_dir: Path, *words: str) -> Plan:
    machine = Machine(tuple(range(64)), tuple(range(20000, 20400)))
    return make_plan(configuration(name, *words), machine, run_dir)


def _engines(plan: Plan) -> list[ProcessSpec]:
    return [each for each in plan.processes if each.argv[1:3] == MODULE]
