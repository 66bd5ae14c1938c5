from typing import Any, ClassVar, Literal

import pytest
from pydantic import ValidationError

from graphs.settings.base import Negatable, Settings, Switch, kebab, setting


class Example(Settings):
    block_size: int | None = setting("Tokens.")
    ratio: float | None = setting("A ratio.")
    enable_it: Negatable = setting("It.")
    trace: Switch = setting("A switch.")
    config: dict[str, Any] | None = setting("An object.")
    sizes: list[int] | None = setting("Several.")


def words(**values: Any) -> tuple[str, ...]:
    return Example.model_validate({kebab(key): value for key, value in values.items()}).arguments()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, ()),
        ({"block_size": 64}, ("--block-size", "64")),
        ({"ratio": 10}, ("--ratio", "10")),
        ({"ratio": 0.25}, ("--ratio", "0.25")),
        ({"enable_it": True}, ("--enable-it",)),
        ({"enable_it": False}, ("--no-enable-it",)),
        ({"trace": True}, ("--trace",)),
        ({"trace": False}, ()),
        ({"config": {"a": {"b": [1, True]}}}, ("--config", '{"a":{"b":[1,true]}}')),
        ({"sizes": [1, 2]}, ("--sizes", "1", "2")),
        ({"trace": True, "block_size": 1}, ("--block-size", "1", "--trace")),
    ],
)
def test_values_become_the_words_that_a_parser_takes(values: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert words(**values) == expected


def test_a_worker_of_another_parser_family_joins_with_an_equals_sign() -> None:
    class Joined(Example):
        separator: ClassVar[Literal[" ", "="]] = "="

    assert Joined.model_validate({"block-size": 1}).arguments() == ("--block_size=1",)


def test_unknown_names_and_python_spelling_are_refused() -> None:
    for name in ("blocksize", "block_size"):
        with pytest.raises(ValidationError):
            Example.model_validate({name: 1})


@pytest.mark.parametrize("name", ["block-size", "ratio", "config"])
def test_true_is_no_number(name: str) -> None:
    with pytest.raises(ValidationError, match="needs a value, not true"):
        Example.model_validate({name: True})


def test_names_are_what_a_person_writes() -> None:
    assert Example.names()[:2] == ("block-size", "ratio")


def test_a_setting_is_described_for_editors() -> None:
    assert Example.model_json_schema()["properties"]["block-size"]["description"] == "Tokens."
