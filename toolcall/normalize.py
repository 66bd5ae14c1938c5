"""From a client's JSON Schema to the normal form, with a record of what the normal form cannot say.

Read as Draft 7, with two courtesies: `$defs` as well as `definitions`, and constraints beside `$ref` hold (as in
2019-09 and later; Draft 7 ignores them).
"""

import json
from collections.abc import Callable
from typing import Any, Final

import msgspec

from toolcall import markers as m
from toolcall import nodes as n
from toolcall import numbers
from toolcall.admit import member, same
from toolcall.automaton import Automaton, lengths
from toolcall.errors import json_path
from toolcall.intersect import array, intersect, text
from toolcall.patterns import automaton
from toolcall.refs import escape, local_pointer, resolve


class Unenforced(msgspec.Struct, frozen=True):
    """A keyword of a schema that the tag does not enforce; the check after the call does.

    Attributes:
        path: JSON path of the keyword's schema inside the parameters, `$` for the parameters themselves.
        keyword: The keyword.
    """

    path: str
    keyword: str


_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_OBJECT_KEYWORDS: Final = frozenset({"properties", "patternProperties", "additionalProperties", "required"})
_ARRAY_KEYWORDS: Final = frozenset({"items", "additionalItems", "prefixItems", "minItems", "maxItems"})
_CHECKED_AFTER: Final = frozenset(
    {
        "contains", "dependencies", "dependentRequired", "dependentSchemas", "else", "if", "maxProperties",
        "minProperties", "not", "oneOf", "propertyNames", "then", "uniqueItems",
    }
)  # fmt: skip
"""Keywords that the normal form has no word for. `oneOf` is read as `anyOf`."""


_STRINGS: Final[dict[str, Callable[[Any], Automaton | None]]] = {
    "pattern": automaton,
    "minLength": lambda least: lengths(int(least), None),
    "maxLength": lambda most: lengths(0, int(most)),
}
"""Keywords of strings, each with the strings that it allows."""

_LONGEST_ENFORCED: Final = 64
"""Greatest array length that is counted in the tag; each count costs a state."""

_MOST_MULTIPLES: Final = 256
"""Most multiples that are written out one by one."""

_DEEPEST: Final = 64
"""Most schemas inside schemas; what lies deeper is left to the check after the call."""


def normalize(schema: Any) -> tuple[n.Shape, tuple[Unenforced, ...]]:
    """Bring a schema that `compile_schema` accepted into normal form.

    Args:
        schema: The schema, whose `$ref` all point inside it.

    Returns:
        The normal form, which admits every value that the schema admits (a member not mentioned by an object that
        names others excepted, see `Object.implicit`), and what it admits too much.
    """
    reader = _Reader(schema if isinstance(schema, dict) else {})
    node = reader.read(schema, "", "$", 0)
    return n.Shape(node, reader.definitions), tuple(dict.fromkeys(reader.remainder))


class _Reader:
    """One pass over one schema: the definitions met so far, and the remainder."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.definitions: dict[str, n.Node] = {}
        self.remainder: list[Unenforced] = []
        self._reading: set[str] = set()

    def read(self, schema: Any, pointer: str, path: str, depth: int) -> n.Node:
        """The node of one schema; `pointer` finds it again, `path` names it to people."""
        if not isinstance(schema, dict):
            return n.NEVER if schema is False else n.ANY
        if depth > _DEEPEST:
            self._drop(path, "depth")
            return n.ANY
        self.remainder.extend(Unenforced(path, keyword) for keyword in schema if keyword in _CHECKED_AFTER)
        node = self._own(schema, pointer, path, depth)
        ref = schema.get("$ref")
        if isinstance(ref, str):
            node = self._meet(node, self._ref(ref, path, depth), path, "$ref")
        for index, part in enumerate(schema.get("allOf", ())):
            read = self.read(part, f"{pointer}/allOf/{index}", path, depth + 1)
            node = self._meet(node, read, path, "allOf")
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                options = [
                    self.read(part, f"{pointer}/{keyword}/{index}", json_path(path, keyword, index), depth + 1)
                    for index, part in enumerate(schema[keyword])
                ]
                node = self._meet(node, n.union(options), path, keyword)
        return node

    def _meet(self, left: n.Node, right: n.Node, path: str, keyword: str) -> n.Node:
        return intersect(self.definitions, left, right, lambda _reason: self._drop(path, keyword))

    def _drop(self, path: str, keyword: str) -> None:
        self.remainder.append(Unenforced(path, keyword))

    def _ref(self, ref: str, path: str, depth: int) -> n.Node:
        pointer = local_pointer(self.root, ref)
        if pointer is None:
            self._drop(path, "$ref")
            return n.ANY
        if pointer in self._reading:
            return n.Ref(pointer)
        if pointer not in self.definitions:
            self._reading.add(pointer)
            read = self.read(resolve(self.root, pointer), pointer, ref, depth + 1)
            self._reading.discard(pointer)
            self.definitions[pointer] = read if not _refers_to(read, pointer) else self._grounded(read, pointer, path)
        node = self.definitions[pointer]
        return n.Ref(pointer) if isinstance(node, n.Object | n.Array | n.Union) else node

    def _grounded(self, node: n.Node, pointer: str, path: str) -> n.Node:
        """A definition that is itself, or itself among others, says nothing by that."""
        if isinstance(node, n.Union):
            return n.union([option for option in node.options if option != n.Ref(pointer)])
        self._drop(path, "$ref")
        return n.ANY

    def _own(self, schema: dict[str, Any], pointer: str, path: str, depth: int) -> n.Node:
        """The node of a schema's own keywords, without references and combinations."""
        kinds = _kinds(schema)
        if kinds is None:
            node: n.Node = n.ANY
        else:
            node = n.union([self._kind(kind, schema, pointer, path, depth) for kind in kinds])
        for literals in ([schema["const"]] if "const" in schema else None, schema.get("enum")):
            if literals is not None:
                unique = [value for at, value in enumerate(literals) if not any(same(value, v) for v in literals[:at])]
                # The end tag of a value cannot stand inside one, so such a member can never be written.
                kept = tuple(value for value in unique if m.VALUE_END not in json.dumps(value, ensure_ascii=False))
                node = self._meet(n.Literals(kept) if kept else n.NEVER, node, path, "enum")
        return node

    def _kind(self, kind: str, schema: dict[str, Any], pointer: str, path: str, depth: int) -> n.Node:
        match kind:
            case "object":
                return self._object(schema, pointer, path, depth)
            case "array":
                return self._array(schema, pointer, path, depth)
            case "string":
                return self._text(schema, path)
            case "boolean":
                return n.Boolean()
            case "null":
                return n.Null()
        return self._number(schema, path, integer=kind == "integer")

    def _object(self, schema: dict[str, Any], pointer: str, path: str, depth: int) -> n.Node:
        declared: dict[str, Any] = schema.get("properties", {})
        required = schema.get("required", ())
        extra = self._extra(schema, pointer, path, depth)
        unnamed = n.Object((), extra)
        properties: list[n.Property] = []
        for name in dict.fromkeys([*declared, *required]):
            source = f"{pointer}/properties/{escape(name)}"
            if name in declared:
                known = n.Property(
                    name,
                    self.read(declared[name], source, json_path(path, name), depth + 1),
                    name in required,
                    (source,),
                )
            else:
                # A required name that is not declared is typed like any other member.
                nodes = member(unnamed, name) or [n.NEVER]
                known = n.Property(name, nodes[0], required=True)
            if not isinstance(known.node, n.Never):
                properties.append(known)
            elif known.required:
                return n.NEVER
        implicit = not schema.keys() & {"additionalProperties", "patternProperties"}
        return n.Object(tuple(properties), extra, implicit, listed="properties" in schema or bool(properties))

    def _extra(self, schema: dict[str, Any], pointer: str, path: str, depth: int) -> tuple[n.Members, ...]:
        """The members that an object does not name."""
        extra: list[n.Members] = []
        for pattern, part in schema.get("patternProperties", {}).items():
            # The tag offers such keys without looking at the pattern.
            self._drop(path, "patternProperties")
            self._drop(path, "additionalProperties")
            source = f"{pointer}/patternProperties/{escape(pattern)}"
            node = self.read(part, source, json_path(path, pattern), depth + 1)
            if not isinstance(node, n.Never):
                extra.append(n.Members(node, pattern, (source,)))
        source = f"{pointer}/additionalProperties"
        rest = schema.get("additionalProperties", True)
        node = self.read(rest, source, json_path(path, "additionalProperties"), depth + 1)
        if not isinstance(node, n.Never):
            extra.append(n.Members(node, sources=(source,) if "additionalProperties" in schema else ()))
        return tuple(extra)

    def _array(self, schema: dict[str, Any], pointer: str, path: str, depth: int) -> n.Node:
        items = schema.get("items", True)
        prefix: list[n.Node] = []
        if isinstance(items, list):
            prefix = [
                self.read(part, f"{pointer}/items/{index}", json_path(path, index), depth + 1)
                for index, part in enumerate(items)
            ]
            items = schema.get("additionalItems", True)
        rest = self.read(items, f"{pointer}/items", f"{path}[]", depth + 1)
        shortest, longest = int(schema.get("minItems", 0)), schema.get("maxItems")
        if longest is not None and longest > _LONGEST_ENFORCED:
            self._drop(path, "maxItems")
            longest = None if longest >= shortest else longest
        if shortest > _LONGEST_ENFORCED:
            self._drop(path, "minItems")
            shortest = _LONGEST_ENFORCED
        return array(rest, prefix, shortest, None if longest is None else int(longest))

    def _number(self, schema: dict[str, Any], path: str, *, integer: bool) -> n.Node:
        low, open_low = _bound(schema.get("minimum"), schema.get("exclusiveMinimum"), sign=1)
        high, open_high = _bound(schema.get("maximum"), schema.get("exclusiveMaximum"), sign=-1)
        node = n.Number(integer, low, high, open_low, open_high)
        if numbers.is_empty(node):
            return n.NEVER
        if "multipleOf" not in schema:
            return node
        multiples = numbers.multiples(node, schema["multipleOf"], _MOST_MULTIPLES)
        if multiples is None:
            self._drop(path, "multipleOf")
            return node
        return n.Literals(multiples) if multiples else n.NEVER

    def _text(self, schema: dict[str, Any], path: str) -> n.Node:
        node: n.Node = n.Text(format=schema.get("format"))
        for keyword, strings in _STRINGS.items():
            if keyword in schema and isinstance(node, n.Text):
                try:
                    held = strings(schema[keyword])
                    node = text(node, held) if held is not None else n.NEVER
                except ValueError:  # Not regular, or too large.
                    self._drop(path, keyword)
        return node


def _kinds(schema: dict[str, Any]) -> list[str] | None:
    """The types a schema allows, or None when it says nothing of them."""
    declared = schema.get("type")
    if declared is not None:
        kinds = [declared] if isinstance(declared, str) else list(declared)
        return [kind for kind in kinds if not (kind == "integer" and "number" in kinds)]
    if schema.keys() & _OBJECT_KEYWORDS:
        return ["object"]
    if schema.keys() & _ARRAY_KEYWORDS:
        return ["array"]
    if schema.keys() & {*_BOUNDS, *_STRINGS, "multipleOf"}:
        return [kind for kind in _TYPES if kind != "integer"]
    return None


def _bound(closed: float | None, opened: float | None, sign: int) -> tuple[float | None, bool]:
    """The tighter of an inclusive and an exclusive bound, and whether it is exclusive."""
    if opened is not None and (closed is None or sign * opened >= sign * closed):
        return opened, True
    return closed, False


def _refers_to(node: n.Node, pointer: str) -> bool:
    here = node.options if isinstance(node, n.Union) else (node,)
    return n.Ref(pointer) in here
