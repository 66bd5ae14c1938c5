from collections.abc import Callable

import pytest

from graphs.checks.engines.rules import rules
from graphs.machine import Machine
from tests.graphs.conftest import Resolve

Refused = Callable[..., list[str]]

# Two engines that no rule refuses, on one machine.
PAIR = """\
Common:
  {model: m, kv-cache-dtype: fp8_ds_mla, kv-cache-layout: BLHNC, attention-backend: FLASHMLA_SPARSE, block-size: 64}
Prefill:
  common-configs: [model, kv-cache-dtype, kv-cache-layout, attention-backend, block-size]
  connectors: [nixl]
  ServiceArgs: {worker: vllm}
Decode:
  common-configs: [model, kv-cache-dtype, kv-cache-layout, attention-backend, block-size]
  connectors: [nixl]
  ServiceArgs: {worker: vllm, workers: 2}
"""


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DYN_CONNECTOR", "MOONCAKE_CONFIG_PATH", "VLLM_NIXL_SIDE_CHANNEL_HOST", "VLLM_PLUGINS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def refused(configure: Resolve) -> Refused:
    """What the rules say against two engines after words of a command line, each line without its place in a file."""

    def ask(
        *words: str, text: str = PAIR, capability: tuple[int, int] | None = None, only: str | None = None
    ) -> list[str]:
        found = rules(configure(*words, text=text), Machine(capability=capability), only)
        return [str(check) for check in found if not check.ok]

    return ask
