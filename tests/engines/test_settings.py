"""The typed settings are vLLM's flags, with vLLM's choices."""

from importlib import import_module
from typing import Any, get_args

import pytest

from graphs.settings.base import FOR_LAUNCHER, FlagForm, kebab
from graphs.settings.vllm import All2AllBackend, CacheDtype, Layout, VllmSettings

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(300)]

# Removed from vLLM, which warns and takes another.
REMOVED = {"naive", "pplx"}


@pytest.fixture(scope="module")
def flags() -> dict[str, Any]:
    parser: Any = import_module("vllm.utils.argparse_utils").FlexibleArgumentParser(add_help=False)
    import_module("vllm.engine.arg_utils").AsyncEngineArgs.add_cli_args(parser, async_args_only=False)
    return {option.removeprefix("--"): action for action in parser._actions for option in action.option_strings}


def test_every_typed_setting_is_a_flag(flags: dict[str, Any]) -> None:
    names = {kebab(name) for name, field in VllmSettings.model_fields.items() if FOR_LAUNCHER not in field.metadata}
    assert names <= set(flags)


def test_every_negatable_setting_has_its_no_flag(flags: dict[str, Any]) -> None:
    for name, field in VllmSettings.model_fields.items():
        assert (f"no-{kebab(name)}" in flags) == (FlagForm("negatable") in field.metadata)


def test_choices_are_vllms(flags: dict[str, Any]) -> None:
    layout: Any = import_module("vllm.v1.kv_cache_layout").KVCacheLayout
    assert set(get_args(CacheDtype)) == set(flags["kv-cache-dtype"].choices)
    assert set(get_args(All2AllBackend)) == set(flags["all2all-backend"].choices) - REMOVED
    assert set(get_args(Layout)) == {each.name for each in layout}
