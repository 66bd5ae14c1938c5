"""The normal form of a schema: a small algebra of what a value may be.

A client's JSON Schema has many spellings of one idea; everything behind `normalize` sees only these nodes.
"""

from typing import Any, Final

import msgspec

from toolcall.automaton import Automaton


class AnyValue(msgspec.Struct, frozen=True):
    """Any JSON value."""


class Never(msgspec.Struct, frozen=True):
    """No value at all."""


class Literals(msgspec.Struct, frozen=True):
    """One of a list of JSON values: `enum` and `const`."""

    values: tuple[Any, ...]


class Text(msgspec.Struct, frozen=True):
    """A string.

    Attributes:
        strings: The strings that its lengths and patterns allow; None for any.
        format: `format` keyword, an annotation under JSON Schema Draft 7.
    """

    strings: Automaton | None = None
    format: str | None = None


class Number(msgspec.Struct, frozen=True):
    """A number between two bounds, each inclusive unless its `open_` flag is set.

    Attributes:
        integer: Only whole numbers.
    """

    integer: bool = False
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False


class Boolean(msgspec.Struct, frozen=True):
    """True or false."""


class Null(msgspec.Struct, frozen=True):
    """Null."""


class Array(msgspec.Struct, frozen=True):
    """An array: `prefix` types the first items, `items` those after them; `longest` None means no limit."""

    items: "Node"
    prefix: tuple["Node", ...] = ()
    shortest: int = 0
    longest: int | None = None


class Property(msgspec.Struct, frozen=True):
    """A named member of an object.

    Attributes:
        sources: JSON pointers into the client's schema whose conjunction this member must satisfy.
    """

    name: str
    node: "Node"
    required: bool
    sources: tuple[str, ...] = ()


class Members(msgspec.Struct, frozen=True):
    """Members not named: those whose name matches `pattern`, or all others when `pattern` is None."""

    node: "Node"
    pattern: str | None = None
    sources: tuple[str, ...] = ()


class Object(msgspec.Struct, frozen=True):
    """An object: named properties in declared order, then whatever `extra` allows; closed when `extra` is empty.

    Attributes:
        implicit: `extra` is open only because the schema does not mention other members. JSON Schema then allows them,
            which the author of an object that lists its properties rarely means.
        listed: The schema lists properties, if only an empty list.
    """

    properties: tuple[Property, ...] = ()
    extra: tuple[Members, ...] = ()
    implicit: bool = False
    listed: bool = False

    def offered(self) -> tuple[Members, ...]:
        """The members beside the named ones that the model is offered."""
        return () if self.implicit and self.listed else self.extra


class Union(msgspec.Struct, frozen=True):
    """Any one of several nodes."""

    options: tuple["Node", ...]


class Ref(msgspec.Struct, frozen=True):
    """A reference to a named part of the same schema, by JSON pointer; it may be recursive."""

    pointer: str


class Shape(msgspec.Struct, frozen=True):
    """A whole schema in normal form.

    Attributes:
        node: The schema itself.
        definitions: What each `Ref` in it stands for, by JSON pointer.
    """

    node: "Node"
    definitions: dict[str, "Node"]

    def options(self, node: "Node") -> tuple["Node", ...]:
        """The alternatives behind a node; see `options`."""
        return options(self.definitions, node)


Node = AnyValue | Never | Literals | Text | Number | Boolean | Null | Array | Object | Union | Ref

ANY: Final = AnyValue()
NEVER: Final = Never()


def union(options: list["Node"]) -> "Node":
    """Join nodes into one, flattening nested unions and dropping repeats and `Never`."""
    # Keyed by repr: to Python `Literals((1,))` and `Literals((True,))` are equal, to JSON they are not.
    flat: dict[str, Node] = {}
    for option in options:
        for node in option.options if isinstance(option, Union) else (option,):
            if isinstance(node, AnyValue):
                return ANY
            if not isinstance(node, Never):
                flat.setdefault(repr(node), node)
    if not flat:
        return NEVER
    return next(iter(flat.values())) if len(flat) == 1 else Union(tuple(flat.values()))


def options(definitions: dict[str, "Node"], node: "Node") -> tuple["Node", ...]:
    """The alternatives behind unions and references, none of which is itself a union or a reference."""
    found: dict[str, Node] = {}
    waiting, seen = [node], set[str]()
    while waiting:
        head = waiting.pop()
        if isinstance(head, Union):
            waiting.extend(reversed(head.options))
        elif isinstance(head, Ref):
            if head.pointer not in seen and head.pointer in definitions:
                seen.add(head.pointer)
                waiting.append(definitions[head.pointer])
        elif not isinstance(head, Never):
            found.setdefault(repr(head), head)
    return tuple(found.values())
