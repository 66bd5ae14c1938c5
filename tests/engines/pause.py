"""A vLLM plugin for machines with fewer cores than engines: it lets NIXL's progress threads rest.

NIXL 1.4.1's Python asks for no pause between two looks at the transports, so each engine keeps a core busy from its
start on, idle or not: right where a core is there for it, and four of them on two cores leave little for the engines.
"""

from pathlib import Path
from typing import Any

REST_US = 1000


def pause() -> None:
    """Give every NIXL agent of this process a rest of a millisecond; an arriving event ends it at once."""
    import nixl_cu12._api as api  # noqa: PLC0415 - in the engines' processes alone

    agent_config: Any = api.nixlBind.nixlAgentConfig

    class Rested(agent_config):  # type: ignore[misc]
        """The agent's configuration, whose `pthrDelay` the Python API sets to 0."""

        @property
        def pthrDelay(self) -> int:  # noqa: N802 - NIXL's name
            delay: int = agent_config.pthrDelay.__get__(self)
            return delay

        @pthrDelay.setter
        def pthrDelay(self, delay_us: int) -> None:  # noqa: N802 - NIXL's name
            agent_config.pthrDelay.__set__(self, delay_us or REST_US)

    api.nixlBind.nixlAgentConfig = Rested


def register(folder: Path) -> None:
    """Write what makes vLLM find the plugin when this folder is on PYTHONPATH."""
    described = folder / "pause-1.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: pause\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[vllm.general_plugins]\npause = tests.engines.pause:pause\n")
