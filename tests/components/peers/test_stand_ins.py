"""Packages that are not there, imported all the same."""

import importlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import pydantic
import pytest

from components.peers.stand_ins import stand_in


@pytest.fixture(autouse=True)
def _finders(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "absent"]:
        del sys.modules[name]


def test_an_absent_package_serves_as_annotation_base_decorator_and_field() -> None:
    stand_in({"absent"})
    absent: Any = importlib.import_module("absent.inner")

    derived = type("Derived", (absent.Cache[str, int],), {})
    model: Any = pydantic.create_model("Model", language=(absent.Language, ...))

    assert isinstance(absent.Image.Image, type)
    assert derived(1, size=2) is not None
    assert absent.registered(print) is not None
    assert model(language="de").language == "de"


def test_a_package_that_is_installed_stays_itself() -> None:
    stand_in({"json"})

    assert importlib.import_module("json.decoder").JSONDecoder is json.JSONDecoder


def test_other_packages_stay_absent() -> None:
    stand_in({"absent"})

    with pytest.raises(ModuleNotFoundError, match="elsewhere"):
        importlib.import_module("elsewhere")
