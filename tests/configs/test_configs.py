"""The packaged configurations, as far as they can be looked at without vLLM; `tests/engines` asks vLLM itself."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import graphs
from graphs import gpus, overrides, yamlfile
from graphs.checks.agreement import agreement
from graphs.checks.capacity import capacity
from graphs.checks.engines.rules import rules
from graphs.commands.plan.engines import Given, planned
from graphs.config import Config, resolve
from graphs.machine import Machine
from graphs.plan import make_plan

FOLDER = Path(graphs.__file__).parents[1] / "configs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
CAPABILITIES = {"gb200": (10, 0), "h200": (9, 0)}
GPUS = {"gb200": 4, "h200": 8}


def resolved(name: str, *words: str) -> Config:
    return resolve(
        replace(graphs.glm53, name="glm53"), yamlfile.read(FOLDER / f"{name}.yaml"), overrides.split(words)[1]
    )


def commands(name: str) -> Iterator[list[str]]:
    """The commands in a file's head: what follows its name in each."""
    head = re.sub(r"\\\n#\s+", "", (FOLDER / f"{name}.yaml").read_text())
    for found in re.findall(rf"dynamo serve graphs:glm53 -f configs/{name}\.yaml(.*)", head):
        yield shlex.split(found)


def values(name: str) -> dict[str, dict[str, Any]]:
    return {
        each.service.name: {key: value.value for key, value in each.origins.items()} for each in resolved(name).services
    }


def differences(name: str, other: str) -> dict[str, tuple[Any, Any]]:
    here, there = values(name), values(other)
    assert here.keys() == there.keys()
    return {
        f"{service}.{key}": (here[service].get(key), there[service].get(key))
        for service in here
        for key in here[service] | there[service]
        if here[service].get(key) != there[service].get(key)
    }


@pytest.mark.parametrize("name", NAMES)
def test_prefill_and_decode_agree(name: str) -> None:
    assert [str(check) for check in agreement(resolved(name)) if not check.ok] == []


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("local")])
def test_the_commands_in_its_head_pass_every_rule(name: str) -> None:
    machine = name.partition("-")[0]
    hardware = Machine(tuple(range(GPUS.get(machine, 0))), tuple(range(20000, 20400)), CAPABILITIES.get(machine))
    given = list(commands(name))
    assert len(given) == {"gb200": 3, "h200": 2}.get(machine, len(given))
    for words in given or [[]]:
        only = words[words.index("--service-name") + 1] if "--service-name" in words else None
        config = resolved(name, *words)
        checks = [*rules(config, hardware, only), *capacity(config, hardware, only)]
        assert [str(check) for check in checks if not check.ok] == []
        assert make_plan(config, hardware, Path("/run/graph"), only=only).processes


@pytest.mark.parametrize(("name", "decoders", "total"), [("1p4d", 4, 24), ("1p3d", 3, 20), ("1p2d", 2, 16)])
def test_gb200_is_one_prefill_engine_of_eight_gpus_to_so_many_decoders(name: str, decoders: int, total: int) -> None:
    config = resolved(f"gb200-{name}")
    by_name = {each.service.name: each for each in config.services}
    assert by_name["Decode"].args.workers == decoders
    machines_of_prefill = 8 // by_name["Prefill"].args.resources.gpu
    assert machines_of_prefill * gpus.needed(config, "Prefill") + gpus.needed(config, "Decode") == total


@pytest.mark.parametrize(("name", "decoders"), [("gb200-1p3d", 3), ("gb200-1p2d", 2)])
def test_fewer_decoders_are_the_only_difference(name: str, decoders: int) -> None:
    assert differences("gb200-1p4d", name) == {"Decode.ServiceArgs.workers": (4, decoders)}


def test_the_fp8_configuration_differs_in_its_rows_alone() -> None:
    rows = {
        f"{stage}.{key}": pair
        for stage in ("Prefill", "Decode")
        for key, pair in {
            "kv-cache-dtype": ("nvfp4_ds_mla", "fp8_e4m3"),
            "attention-backend": ("FLASHMLA_SPARSE", "FLASHINFER_MLA_SPARSE"),
        }.items()
    }
    # Rows of another size: the same memory of the store holds another number of tokens.
    held = {"Frontend.router-host-tokens": (36_000_000, 23_000_000)}
    assert differences("gb200-1p4d", "gb200-fp8") == rows | held


def test_the_nvfp4_variant_for_h200_differs_in_its_rows_alone() -> None:
    assert differences("h200-dp8", "h200-dp8-nvfp4") == {
        f"{stage}.{key}": pair
        for stage in ("Prefill", "Decode")
        for key, pair in {
            "kv-cache-dtype": ("fp8_ds_mla", "nvfp4_ds_mla"),
            "attention-backend": ("FLASHMLA_SPARSE", "CUSTOM"),
        }.items()
    }


def test_the_nvfp4_variant_for_h200_holds_1_78_times_the_tokens() -> None:
    tokens = {}
    for name in ("h200-dp8", "h200-dp8-nvfp4"):
        found = planned(resolved(name), Given())
        tokens[name] = {each.ladder.engine: each.ladder.gpu_tokens for each in found}
    # 656 and 352 B in 79 layers, 132 B in 22.
    ratio = (79 * 656 + 22 * 132) / (79 * 352 + 22 * 132)
    assert ratio == pytest.approx(1.782, abs=1e-3)
    for stage in ("Prefill", "Decode"):
        assert tokens["h200-dp8-nvfp4"][stage] / tokens["h200-dp8"][stage] == pytest.approx(ratio, rel=1e-3)


def test_the_h200_baseline_has_the_same_rows_and_as_much_host_memory() -> None:
    keys = {key.partition(".")[2] for key in differences("h200-pcp8-dcp8", "h200-dp8")}
    assert not keys & {"model", "kv-cache-dtype", "kv-cache-layout", "block-size", "attention-backend", "max-model-len"}
    prefill = values("h200-dp8")["Prefill"]
    (_, offload) = prefill["connectors"]
    assert offload["offload"]["gib"] * prefill["data-parallel-size"] == 512
