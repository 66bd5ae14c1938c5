"""Whether a value belongs to a node."""

from typing import Any

from toolcall import nodes as n
from toolcall.patterns import matches


def admits(definitions: dict[str, n.Node], node: n.Node, value: Any) -> bool:
    """Tell whether a JSON value is one of those a node stands for.

    Args:
        definitions: What each reference stands for.
        node: The node.
        value: A value as `json.loads` gives it.
    """
    match node:
        case n.Ref() | n.Union():
            return any(admits(definitions, option, value) for option in n.options(definitions, node))
        case n.Literals(values):
            return any(same(value, literal) for literal in values)
        case n.Object() if isinstance(value, dict):
            return _admits_object(definitions, node, value)
        case n.Array() if isinstance(value, list):
            return _admits_array(definitions, node, value)
        case n.AnyValue():
            return True
    return _admits_scalar(node, value)


def same(left: Any, right: Any) -> bool:
    """JSON equality: `1` equals `1.0`, and neither equals `true`."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def member(node: n.Object, name: str) -> list[n.Node]:
    """The nodes that a member of this name must all belong to; empty when the object has no room for it."""
    for known in node.properties:
        if known.name == name:
            return [known.node]
    matching = [extra.node for extra in node.extra if extra.pattern is not None and matches(extra.pattern, name)]
    return matching or [extra.node for extra in node.extra if extra.pattern is None]


def _admits_object(definitions: dict[str, n.Node], node: n.Object, value: dict[str, Any]) -> bool:
    if any(known.required and known.name not in value for known in node.properties):
        return False
    for name, item in value.items():
        nodes = member(node, name)
        if not nodes or not all(admits(definitions, each, item) for each in nodes):
            return False
    return True


def _admits_array(definitions: dict[str, n.Node], node: n.Array, value: list[Any]) -> bool:
    if len(value) < node.shortest or (node.longest is not None and len(value) > node.longest):
        return False
    kinds = [*node.prefix, *([node.items] * (len(value) - len(node.prefix)))]
    return all(admits(definitions, kind, item) for kind, item in zip(kinds, value, strict=False))


def _admits_scalar(node: n.Node, value: Any) -> bool:
    match node:
        case n.Text() if isinstance(value, str):
            return node.strings is None or node.strings.matches(value)
        case n.Boolean():
            return isinstance(value, bool)
        case n.Null():
            return value is None
        case n.Number() if isinstance(value, int | float) and not isinstance(value, bool):
            return _in_range(node, value)
    return False


def _in_range(node: n.Number, value: float) -> bool:
    if node.integer and isinstance(value, float) and not value.is_integer():
        return False
    if node.low is not None and (value <= node.low if node.open_low else value < node.low):
        return False
    return node.high is None or not (value >= node.high if node.open_high else value > node.high)
