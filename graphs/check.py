"""Check a section against its model, and say what is wrong with the place where it was written."""

from collections.abc import Mapping
from typing import Any, TypeVar, get_args

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
    message = message.replace("Field required", "is required")
    given = "" if error["type"] in {"value_error", "missing"} else f", not {error['input']!r}"
    return f"{place}{'.'.join((where, *path))}{' ' if path else ': '}{message}{given}"


def _nearest_value(section: Section, path: KeyPath) -> Value | None:
    # A union or a list adds to the path of an error; the place is that of the longest part that somebody wrote.
    for length in range(len(path), 0, -1):
        if found := section.get(path[:length]):
            return found
    return next((value for key, value in section.items() if key[: len(path)] == path), None)


def _names(model: type[BaseModel], path: KeyPath) -> list[str]:
    for name in path:
        # The place in a list is a number, and no name of a field.
        if field := {kebab(key): field for key, field in model.model_fields.items()}.get(name):
            model = _model_in(field.annotation) or model
    return [kebab(key) for key in model.model_fields]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)


def _tree(section: Section) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in section.items():
        node = tree
        for name in path[:-1]:
            below = node.get(name)
            node[name] = node = below if isinstance(below, dict) else {}
        node[path[-1]] = value.value
    return tree
