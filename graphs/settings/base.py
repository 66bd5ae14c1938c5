"""The base of all settings: kebab-case names, unknown names refused, and how a value becomes an argument.

The classic dialect wrote `false` as `--flag false`, which no worker of today accepts. Here a boolean is what the
worker's parser takes: a `Switch` knows only `--flag`, a `Negatable` knows `--flag` and `--no-flag`. What is marked with
`FOR_LAUNCHER` is no flag at all: the launcher makes arguments and environment of it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator


@dataclass(frozen=True)
class FlagForm:
    """How a setting is written on the worker's command line; "none" is not written there."""

    kind: Literal["switch", "negatable", "none"]


FOR_LAUNCHER = FlagForm("none")
Switch = Annotated[bool | None, FlagForm("switch")]
Negatable = Annotated[bool | None, FlagForm("negatable")]


def kebab(name: str) -> str:
    """Turn a Python name into the flag's name: `block_size` into `block-size`."""
    return name.replace("_", "-")


def setting(description: str, **constraints: Any) -> Any:
    """Declare a setting that is passed only when a person gave it, so that the worker's own default holds."""
    return Field(default=None, description=description, **constraints)


class Strict(BaseModel):
    """A frozen model with kebab-case names that refuses names it does not know."""

    model_config = ConfigDict(
        alias_generator=kebab, allow_inf_nan=False, coerce_numbers_to_str=True, extra="forbid", frozen=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        # `--Frontend.http-port` without a value would be port 1.
        annotation: Any = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and annotation is not bool and bool not in get_args(annotation):
            raise ValueError(f"needs a value, not {str(value).lower()}")
        return value


class Settings(Strict):
    """The flags of one kind of worker."""

    separator: ClassVar[Literal[" ", "="]] = " "

    @classmethod
    def open(cls) -> bool:
        """Whether any flag passes, because the worker's parser is not described here."""
        return cls.model_config.get("extra") == "allow"

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names a person may write."""
        return tuple(kebab(name) for name in cls.model_fields)

    def arguments(self) -> tuple[str, ...]:
        """The command-line arguments of the values that were given, in the order of the fields."""
        forms = {
            name: form
            for name, field in type(self).model_fields.items()
            for form in field.metadata
            if isinstance(form, FlagForm)
        }
        given = [(name, getattr(self, name)) for name in type(self).model_fields]
        given += (self.model_extra or {}).items()
        return tuple(word for name, value in given for word in self._words(name, value, forms.get(name)))

    def _words(self, name: str, value: Any, form: object) -> Iterator[str]:
        flag = f"--{kebab(name)}"
        if value is None or form == FOR_LAUNCHER:
            return
        if isinstance(value, bool):
            yield from _boolean(flag, value, switch=form == FlagForm("switch"))
        elif isinstance(value, list):
            yield from (flag, *(_text(item) for item in value))
        elif self.separator == "=":
            yield f"--{name}={_text(value)}"
        else:
            yield from (flag, _text(value))


def _boolean(flag: str, value: bool, *, switch: bool) -> Iterator[str]:
    if value:
        yield flag
    elif not switch:
        yield f"--no-{flag.removeprefix('--')}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"))
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
