from typing import Any

import pytest
from pydantic import ValidationError

from graphs.settings.connectors import HiSparse, Nixl, Offload
from graphs.settings.vllm import VllmSettings


def read(*entries: Any) -> VllmSettings:
    return VllmSettings.model_validate({"connectors": list(entries)})


def test_a_connector_is_a_name_or_a_name_with_options() -> None:
    listed = read("nixl", {"nixl": None}, {"hisparse": {"host-pool-gib": 48}}, {"offload": {"gib": 16}}).connectors
    assert listed is not None
    assert [each.name for each in listed] == ["nixl", "nixl", "hisparse", "offload"]
    assert [each.options for each in listed] == [Nixl(), Nixl(), HiSparse(**{"host-pool-gib": 48}), Offload(gib=16)]


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ("nixel", (0, "nixel")),
        ({"nixl": {}, "mooncake": {}}, (0,)),
        ({}, (0,)),
        (3, (0,)),
        ("offload", (0, "offload", "gib")),
        ({"offload": {"gib": 0}}, (0, "offload", "gib")),
        ({"hisparse": {"host-pool": 48}}, (0, "hisparse", "host-pool-gib")),
    ],
)
def test_anything_else_is_refused_where_it_stands(entry: Any, place: tuple[object, ...]) -> None:
    with pytest.raises(ValidationError) as refusal:
        read(entry)
    assert [error["loc"] for error in refusal.value.errors()] == [("connectors", *place)]
