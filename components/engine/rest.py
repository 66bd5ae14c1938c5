"""A vLLM plugin for machines with fewer cores than engines: what waits there sleeps, and does not look without a pause.

NIXL 1.4.1's Python asks for no pause between two looks of its progress thread at the transports, and a reader of vLLM
0.31's queue between an engine and its workers looks again at once for a second after each message
(`distributed/device_communicators/shm_broadcast.py`). Both are right where each has a core. Where engines share two,
such threads ran on while others stood still for up to 18 s (Linux 6.18), among them Dynamo's heartbeats, for which file
discovery waits 10 s.
"""

import os
import time
from typing import Any, Final

VARIABLE: Final = "DYNAMO_GLM_REST_US"
"""The pause in microseconds; nothing is changed without it."""


def register() -> None:
    """Let this process's NIXL agents and vLLM's queues rest for as long as the environment says.

    Raises:
        ValueError: It says something else than microseconds.
    """
    if said := os.environ.get(VARIABLE):
        if not said.isdecimal():
            raise ValueError(f"{VARIABLE}={said}: it is a number of microseconds, such as 1000")
        _rest_agents(int(said))
        _rest_queues(int(said))


def _rest_agents(rest_us: int) -> None:
    import nixl_cu12._api as api  # noqa: PLC0415 - no part of an engine that moves nothing

    agent_config: Any = api.nixlBind.nixlAgentConfig

    class Rested(agent_config):  # type: ignore[misc]
        """The agent's configuration, whose `pthrDelay` the Python API sets to 0; an arriving event ends a rest."""

        @property
        def pthrDelay(self) -> int:  # noqa: N802 - NIXL's name
            delay_us: int = agent_config.pthrDelay.__get__(self)
            return delay_us

        @pthrDelay.setter
        def pthrDelay(self, delay_us: int) -> None:  # noqa: N802 - NIXL's name
            agent_config.pthrDelay.__set__(self, delay_us or rest_us)

    api.nixlBind.nixlAgentConfig = Rested


def _rest_queues(rest_us: int) -> None:
    from vllm.distributed.device_communicators import shm_broadcast  # noqa: PLC0415 - vLLM is there when it is called

    shm_broadcast.sched_yield = lambda: time.sleep(rest_us / 1e6)
