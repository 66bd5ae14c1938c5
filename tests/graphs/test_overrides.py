from typing import Any

import pytest

from graphs.errors import Refusal
from graphs.overrides import split


def test_overrides_are_taken_out_of_the_command_line() -> None:
    rest, overrides = split(["serve", "--Frontend.http-port=9000", "graphs:glm53", "-f", "a.yaml"])
    assert rest == ["serve", "graphs:glm53", "-f", "a.yaml"]
    assert [(each.service, each.key, each.value) for each in overrides] == [("Frontend", ("http-port",), 9000)]


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        (["--A.b=c=d"], ("b",), "c=d"),
        (["--A.b", "7"], ("b",), 7),
        (["--A.b"], ("b",), True),
        (["--A.b", "--json"], ("b",), True),
        (["--A.b="], ("b",), None),
        (["--A.b=-1"], ("b",), -1),
        (['--A.b={"x": [1]}'], ("b",), {"x": [1]}),
        (["--A.ServiceArgs.resources.gpu=2"], ("ServiceArgs", "resources", "gpu"), 2),
    ],
)
def test_an_override_may_be_written_in_several_ways(words: list[str], key: tuple[str, ...], value: Any) -> None:
    _, (override,) = split(words)
    assert (override.key, override.value) == (key, value)


def test_an_override_remembers_how_it_was_written() -> None:
    _, (first, second) = split(["--A.b", "7", "--A.c={x: 1}"])
    assert (first.shown, second.shown) == ("--A.b=7", "--A.c={x: 1}")


def test_nothing_is_taken_after_two_dashes() -> None:
    assert split(["a", "--", "--A.b=1"]) == (["a", "--", "--A.b=1"], ())


def test_a_path_or_an_option_is_no_override() -> None:
    words = ["path/file.py:attr", "--dry-run", "-f", "a.b.yaml", "--store-path=/a.b"]
    assert split(words) == (words, ())


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(Refusal, match=r"--A\.b\.=1: write it as --Service\.key=value"):
        split(["--A.b.=1"])
