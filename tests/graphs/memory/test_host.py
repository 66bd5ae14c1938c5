import pytest

from graphs.memory.devices import device
from graphs.memory.host import size_bytes, tiers
from graphs.memory.ladder import Engine, ladder
from graphs.memory.shapes import KNOWN
from graphs.settings.vllm import VllmSettings
from tests.graphs.conftest import Resolve

FILE = """\
Mooncake: {global-segment-size: 140gb}
Prefill:
  model: zai-org/GLM-5.3
  data-parallel-size: 8
  connectors: [nixl, mooncake]
  ServiceArgs: {worker: vllm}
Decode:
  model: zai-org/GLM-5.3
  data-parallel-size: 8
  connectors: [{hisparse: {host-pool-gib: 48}}, nixl, {offload: {gib: 16}}]
  ServiceArgs: {worker: vllm}
"""


@pytest.mark.parametrize(
    ("text", "size"), [("140gb", 140 << 30), ("512 MB", 512 << 20), ("4096", 4096), ("1.5k", 1536), ("2TB", 2 << 40)]
)
def test_sizes_are_read_as_mooncake_reads_them(text: str, size: int) -> None:
    assert size_bytes(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1gb", "1pb"])
def test_what_is_no_size_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size such as 140gb"):
        size_bytes(text)


def test_each_rank_gives_to_the_store_and_offloads_for_itself(configure: Resolve) -> None:
    config = configure(text=FILE)
    found = {}
    for service in config.services:
        if isinstance(service.settings, VllmSettings):
            own = ladder(Engine("x", "decode", service.settings, KNOWN["GLM-5.3"], "fp8", device("h200")))
            found[service.service.name] = [
                (tier.name, tier.size_bytes >> 30, round(tier.tokens * own.token_bytes / tier.size_bytes, 3))
                for tier in tiers(config, service.settings, own)
            ]
    assert found["Prefill"] == [("Mooncake", 8 * 140, 1.0)]
    assert found["Decode"] == [("HiSparse", 8 * 48, 1.0), ("offload", 8 * 16, 1.0)]


@pytest.mark.parametrize(
    ("ranks", "copies"),
    [
        ({"tensor-parallel-size": 8}, 1),
        ({"prefill-context-parallel-size": 8}, 8),
        ({"prefill-context-parallel-size": 8, "decode-context-parallel-size": 8}, 1),
        ({"tensor-parallel-size": 8, "decode-context-parallel-size": 4}, 2),
        ({"tensor-parallel-size": 4, "pipeline-parallel-size": 2}, 4),
    ],
)
def test_context_ranks_offload_what_each_keeps(configure: Resolve, ranks: dict[str, int], copies: int) -> None:
    settings = VllmSettings.model_validate({"connectors": [{"offload": {"gib": 16}}], **ranks})
    own = ladder(Engine("x", "decode", settings, KNOWN["GLM-5.3"], "fp8", device("h200")))
    (tier,) = tiers(configure(text=FILE), settings, own)
    assert tier.tokens == (16 << 30) // (copies * (78 * 1_152 + 21 * 132))


def test_a_token_of_the_host_has_all_pipeline_stages(configure: Resolve) -> None:
    config = configure(text=FILE)
    flags = {"connectors": [{"offload": {"gib": 16}}], "pipeline-parallel-size": 2}
    own = ladder(Engine("x", "decode", VllmSettings.model_validate(flags), KNOWN["GLM-5.3"], "fp8", device("h200")))
    (tier,) = tiers(config, VllmSettings.model_validate(flags), own)
    # Rows of 1,152 B in 78 layers, and 21 of 132.
    assert tier.tokens == (16 << 30) // (78 * 1_152 + 21 * 132)


def test_a_store_of_its_own_process_is_as_large_as_that(configure: Resolve) -> None:
    text = FILE.replace("{global-segment-size: 140gb}", "{mode: standalone-store}")
    config = configure(text=f"{text}MooncakeClient: {{global-segment-size: 512MB, ServiceArgs: {{workers: 2}}}}\n")
    (settings,) = [each.settings for each in config.services if each.service.name == "Prefill"]
    assert isinstance(settings, VllmSettings)
    own = ladder(Engine("x", "decode", settings, KNOWN["GLM-5.3"], "fp8", device("h200")))
    (tier,) = tiers(config, settings, own)
    assert (tier.name, tier.size_bytes, tier.common) == ("Mooncake", 1 << 30, True)
