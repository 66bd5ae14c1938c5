"""Settings on the command line: `--Service.key=value`, as the classic `dynamo serve` took them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphs import yamlfile
from graphs.errors import Refusal

_OVERRIDE = re.compile(r"--([A-Za-z]\w*)\.([\w.-]+)(?:=(.*))?", re.DOTALL)


@dataclass(frozen=True)
class Override:
    """One setting from the command line.

    Attributes:
        service: The part before the first dot.
        key: Path of the key below it: one name, or `ServiceArgs` and further names.
        value: What it is set to.
        shown: How the person wrote it.
    """

    service: str
    key: tuple[str, ...]
    value: Any
    shown: str


def split(arguments: Sequence[str]) -> tuple[list[str], tuple[Override, ...]]:
    """Take the `--Service.key=value` words out of a command line; what is left is the command's own.

    `--Service.key value` is accepted too, and `--Service.key` alone means true. Everything after `--` is left alone.

    Raises:
        Refusal: An override has no key.
    """
    rest: list[str] = []
    overrides: list[Override] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        match = _OVERRIDE.fullmatch(word)
        if word == "--":
            return [*rest, word, *words], tuple(overrides)
        if match is None:
            rest.append(word)
            continue
        if match[3] is None and words and not words[0].startswith("-"):
            word = f"{word}={words.pop(0)}"
        overrides.append(_override(word, match))
    return rest, tuple(overrides)


def _override(word: str, match: re.Match[str]) -> Override:
    name, given, text = word.partition("=")
    key = tuple(match[2].split("."))
    if not all(key):
        raise Refusal(f"{word}: write it as --Service.key=value")
    return Override(match[1], key, yamlfile.value(text) if given else True, word if given else name)
