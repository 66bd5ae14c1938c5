import subprocess
import sys
from importlib.util import find_spec

import pytest

from graphs import workers
from graphs.worker import Worker

ALL = (
    workers.frontend(),
    workers.local(),
    workers.mocker("prefill"),
    workers.vllm("decode"),
    workers.mooncake_master(),
    workers.mooncake_client(),
)


@pytest.mark.parametrize("worker", ALL, ids=lambda worker: worker.name)
def test_every_worker_has_settings_and_one_program(worker: Worker) -> None:
    assert worker.load_settings().names()
    assert bool(worker.module) != bool(worker.program)


@pytest.mark.parametrize("worker", [each for each in ALL if each.module], ids=lambda worker: worker.name)
def test_every_python_worker_is_installed(worker: Worker) -> None:
    assert find_spec(worker.module)


@pytest.mark.parametrize("worker", ALL, ids=lambda worker: worker.name)
def test_topology_flags_are_settings(worker: Worker) -> None:
    assert set(worker.topology_flags.values()) <= set(worker.load_settings().names())


def test_importing_graphs_loads_no_engine_and_no_settings() -> None:
    code = "import sys, graphs; print(*sorted({'pydantic', 'dynamo', 'vllm', 'torch'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
