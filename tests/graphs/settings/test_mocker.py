import argparse

import pytest
from dynamo.common.configuration.groups.router_args import add_worker_router_arguments
from dynamo.mocker.args import parse_args

from graphs.settings.base import FlagForm
from graphs.settings.mocker import MockerSettings
from tests.graphs.settings import parsers

PLANES = {"discovery-backend", "request-plane", "response-plane", "event-plane"}
BY_THE_GRAPH = {"disaggregation-mode", "num-workers", "stagger-delay"}
DEPRECATED = {"is-prefill-worker", "is-decode-worker", "version"}
OTHER_ENGINES = ("sglang-", "trtllm-", "mem-fraction-static", "free-gpu-memory-fraction")


@pytest.fixture(scope="module")
def parser() -> dict[str, object]:
    return dict(parsers.flags(parse_args))


def worker_router_flags() -> set[str]:
    group = argparse.ArgumentParser()
    add_worker_router_arguments(group)
    return set(parsers.of(group))


def test_the_settings_are_the_flags_of_the_installed_mocker(parser: dict[str, object]) -> None:
    left_out = PLANES | BY_THE_GRAPH | DEPRECATED | worker_router_flags()
    expected = {
        name for name in parser if name not in left_out and not name.startswith(("no-", "aic-", *OTHER_ENGINES))
    }
    assert set(MockerSettings.names()) == expected


def test_every_negatable_setting_has_its_no_flag(parser: dict[str, object]) -> None:
    for name, field in MockerSettings.model_fields.items():
        flag = name.replace("_", "-")
        if FlagForm("negatable") in field.metadata:
            assert f"no-{flag}" in parser
        elif FlagForm("switch") in field.metadata:
            assert f"no-{flag}" not in parser


def test_the_installed_mocker_parses_what_the_settings_say() -> None:
    settings = MockerSettings.model_validate(
        {
            "model-path": "somewhere",
            "data-parallel-size": 8,
            "num-gpu-blocks-override": 16384,
            "enable-prefix-caching": False,
            "enable-chunked-prefill": True,
            "speedup-ratio": 10,
            "ais-perf-model": False,
        }
    )
    parsed = parse_args([*settings.arguments()])
    assert (parsed.dp_size, parsed.num_gpu_blocks, parsed.speedup_ratio) == (8, 16384, 10.0)
    assert (parsed.enable_prefix_caching, parsed.enable_chunked_prefill, parsed.ais_perf_model) == (False, True, False)
