"""That what an engine waits with rests: in a process of its own, since it changes NIXL and vLLM for good."""

import os
import subprocess
import sys
from importlib.metadata import entry_points

from components.engine import rest

_LOOK = """
import time
from vllm.plugins import load_general_plugins
load_general_plugins()
import nixl_cu12._api as api
from vllm.distributed.device_communicators import shm_broadcast
config = api.nixlBind.nixlAgentConfig()
config.pthrDelay = 0
agent = api.nixl_agent("asked", api.nixl_agent_config())
began = time.monotonic()
shm_broadcast.sched_yield()
print(config.pthrDelay, time.monotonic() - began > 0.019, "UCX" in agent.get_plugin_list())
"""


def _look(**environment: str) -> str:
    command = [sys.executable, "-c", _LOOK]
    env = {name: value for name, value in os.environ.items() if name != rest.VARIABLE}
    done = subprocess.run(command, env=env | environment, capture_output=True, text=True, check=True, timeout=100)
    return done.stdout.splitlines()[-1]


def test_vllm_finds_the_plugin() -> None:
    found = {point.name: point.value for point in entry_points(group="vllm.general_plugins")}
    assert found["dynamo_glm_rest"] == "components.engine.rest:register"


def test_agents_and_queues_rest_for_as_long_as_the_environment_says() -> None:
    assert _look(**{rest.VARIABLE: "20000"}) == "20000 True True"


def test_without_it_they_do_not() -> None:
    assert _look() == "0 False True"
