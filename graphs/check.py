"""Check a section against its model, and say what is wrong with the place where it was written."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from graphs.layers import Section, Value
from graphs.nearest import did_you_mean
from graphs.settings.base import kebab
from graphs.yamlfile import KeyPath

Model = TypeVar("Model", bound=BaseModel)


def checked(model: type[Model], where: str, section: Section, problems: list[str]) -> Model | None:
    """Build the model from the section's values, or add one line to `problems` for each that does not fit."""
    try:
        return model.model_validate(_tree(section))
    except ValidationError as error:
        problems += (_problem(model, where, section, found) for found in error.errors(include_url=False))
        return None


def _problem(model: type[BaseModel], where: str, section: Section, error: Mapping[str, Any]) -> str:
    path: KeyPath = tuple(map(str, error["loc"]))
    value = _nearest_value(section, path)
    place = f"{value.origin}: " if value else ""
    if error["type"] == "extra_forbidden":
        return f"{place}{where} has no setting {path[-1]!r}: {did_you_mean(path[-1], _names(model, path[:-1]))}"
    message = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    given = "" if error["type"] == "value_error" else f", not {error['input']!r}"
    return f"{place}{'.'.join((where, *path))}{' ' if path else ': '}{message}{given}"


def _nearest_value(section: Section, path: KeyPath) -> Value | None:
    # A union or a list adds to the path of an error; the place is that of the longest part that somebody wrote.
    for length in range(len(path), 0, -1):
        if found := section.get(path[:length]):
            return found
    return next((value for key, value in section.items() if key[: len(path)] == path), None)


def _names(model: type[BaseModel], path: KeyPath) -> list[str]:
    for name in path:
        inner: Any = next(field.annotation for key, field in model.model_fields.items() if kebab(key) == name)
        model = inner
    return [kebab(key) for key in model.model_fields]


def _tree(section: Section) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in section.items():
        node = tree
        for name in path[:-1]:
            below = node.get(name)
            node[name] = node = below if isinstance(below, dict) else {}
        node[path[-1]] = value.value
    return tree
