"""What two nodes have in common: `allOf`, and keywords beside `$ref`, `anyOf` and `oneOf`."""

from collections.abc import Callable
from typing import Final

from toolcall import nodes as n
from toolcall import numbers
from toolcall.admit import admits
from toolcall.automaton import Automaton, TooLargeError, both
from toolcall.patterns import matches as admits_name
from toolcall.string_rules import is_affordable

_WIDEST: Final = 64
"""Most options a product of two unions may have before it is left to the check after the call."""

_DEEPEST: Final = 12
"""Most references followed in one intersection; recursive `allOf` would never end."""

Dropped = Callable[[str], None]
"""Told the reason whenever the result is wider than the true intersection."""


def intersect(definitions: dict[str, n.Node], left: n.Node, right: n.Node, dropped: Dropped, depth: int = 0) -> n.Node:
    """The values in both nodes, or a few more where `dropped` is told so."""
    if isinstance(left, n.AnyValue) or isinstance(right, n.Never):
        return right
    if isinstance(right, n.AnyValue) or isinstance(left, n.Never):
        return left
    if isinstance(left, n.Ref) or isinstance(right, n.Ref):
        return _with_ref(definitions, left, right, dropped, depth)
    if isinstance(left, n.Literals) or isinstance(right, n.Literals):
        literals, other = (left, right) if isinstance(left, n.Literals) else (right, left)
        kept = tuple(value for value in literals.values if admits(definitions, other, value))  # type: ignore[union-attr]
        return n.Literals(kept) if kept else n.NEVER
    if isinstance(left, n.Union) or isinstance(right, n.Union):
        return _unions(definitions, left, right, dropped, depth)
    return _same_kind(definitions, left, right, dropped, depth)


def _with_ref(definitions: dict[str, n.Node], left: n.Node, right: n.Node, dropped: Dropped, depth: int) -> n.Node:
    if left == right:
        return left
    if depth > _DEEPEST:
        dropped("recursive allOf")
        return left
    resolved = [definitions.get(node.pointer) if isinstance(node, n.Ref) else node for node in (left, right)]
    if resolved[0] is None or resolved[1] is None:
        # A definition still being read: its own body cannot be merged into itself.
        dropped("recursive allOf")
        return left if resolved[1] is None else right
    return intersect(definitions, resolved[0], resolved[1], dropped, depth + 1)


def _unions(definitions: dict[str, n.Node], left: n.Node, right: n.Node, dropped: Dropped, depth: int) -> n.Node:
    lefts = left.options if isinstance(left, n.Union) else (left,)
    rights = right.options if isinstance(right, n.Union) else (right,)
    if len(lefts) * len(rights) > _WIDEST:
        dropped("product of unions")
        return left if len(lefts) >= len(rights) else right
    return n.union([intersect(definitions, a, b, dropped, depth) for a in lefts for b in rights])


def _same_kind(definitions: dict[str, n.Node], left: n.Node, right: n.Node, dropped: Dropped, depth: int) -> n.Node:
    match left, right:
        case n.Text(), n.Text():
            return _texts(left, right, dropped)
        case n.Number(), n.Number():
            return _numbers(left, right)
        case n.Array(), n.Array():
            return _arrays(definitions, left, right, dropped, depth)
        case n.Object(), n.Object():
            return _objects(definitions, left, right, dropped, depth)
    return left if left == right else n.NEVER


def _texts(left: n.Text, right: n.Text, dropped: Dropped) -> n.Node:
    try:
        return text(left, right.strings, right.format)
    except TooLargeError:
        dropped("lengths and patterns")
        return left


def text(node: n.Text, strings: Automaton | None, form: str | None = None) -> n.Node:
    """A text that is also held to an automaton and a format.

    Raises:
        TooLargeError: No grammar can afford it.
    """
    held = node.strings or strings
    if node.strings is not None and strings is not None:
        held = both(node.strings, strings)
        if held is None:
            return n.NEVER
    if held is not None and not is_affordable(held):
        raise TooLargeError("too many states for a grammar")
    return n.Text(held, node.format or form)


def _numbers(left: n.Number, right: n.Number) -> n.Node:
    low, open_low = _tighter([(left.low, left.open_low), (right.low, right.open_low)], sign=1)
    high, open_high = _tighter([(left.high, left.open_high), (right.high, right.open_high)], sign=-1)
    node = n.Number(left.integer or right.integer, low, high, open_low, open_high)
    return n.NEVER if numbers.is_empty(node) else node


def _tighter(bounds: list[tuple[float | None, bool]], sign: int) -> tuple[float | None, bool]:
    known = [(sign * bound, is_open) for bound, is_open in bounds if bound is not None]
    if not known:
        return None, False
    bound, is_open = max(known)
    return sign * bound, is_open


def _arrays(definitions: dict[str, n.Node], left: n.Array, right: n.Array, dropped: Dropped, depth: int) -> n.Node:
    width = max(len(left.prefix), len(right.prefix))
    lefts = [*left.prefix, *([left.items] * (width - len(left.prefix)))]
    rights = [*right.prefix, *([right.items] * (width - len(right.prefix)))]
    prefix = [intersect(definitions, a, b, dropped, depth) for a, b in zip(lefts, rights, strict=True)]
    items = intersect(definitions, left.items, right.items, dropped, depth)
    limits = [limit for limit in (left.longest, right.longest) if limit is not None]
    return array(items, prefix, max(left.shortest, right.shortest), min(limits, default=None))


def array(items: n.Node, prefix: list[n.Node], shortest: int, longest: int | None) -> n.Node:
    """An array, no longer than its items allow, or `Never`."""
    for at, item in enumerate([*prefix, items]):
        if isinstance(item, n.Never):
            longest = at if longest is None else min(at, longest)
            break
    if longest is None:
        return n.Array(items, tuple(prefix), shortest)
    if longest < shortest:
        return n.NEVER
    return n.Array(items, tuple(prefix[:longest]), shortest, longest)


def _objects(definitions: dict[str, n.Node], left: n.Object, right: n.Object, dropped: Dropped, depth: int) -> n.Node:
    names = dict.fromkeys(known.name for known in (*left.properties, *right.properties))
    properties: list[n.Property] = []
    for name in names:
        sides = [_side(definitions, side, name, dropped, depth) for side in (left, right)]
        node = intersect(definitions, sides[0].node, sides[1].node, dropped, depth)
        required = sides[0].required or sides[1].required
        if isinstance(node, n.Never):
            if required:
                return n.NEVER
            continue
        properties.append(n.Property(name, node, required, sides[0].sources + sides[1].sources))
    extra, implicit = _extras(definitions, left, right, dropped, depth)
    return n.Object(tuple(properties), extra, implicit, left.listed or right.listed)


def _side(definitions: dict[str, n.Node], side: n.Object, name: str, dropped: Dropped, depth: int) -> n.Property:
    """How one side sees a member that either names."""
    for known in side.properties:
        if known.name == name:
            return known
    found = [extra for extra in side.extra if extra.pattern is not None and admits_name(extra.pattern, name)]
    found = found or [extra for extra in side.extra if extra.pattern is None]
    if not found:
        return n.Property(name, n.NEVER, required=False)
    node: n.Node = n.ANY
    for extra in found:
        node = intersect(definitions, node, extra.node, dropped, depth)
    return n.Property(name, node, required=False, sources=tuple(source for extra in found for source in extra.sources))


def _extras(
    definitions: dict[str, n.Node], left: n.Object, right: n.Object, dropped: Dropped, depth: int
) -> tuple[tuple[n.Members, ...], bool]:
    if left.implicit:
        return right.extra, right.implicit
    if right.implicit or left.extra == right.extra:
        return left.extra, False
    if not left.extra or not right.extra:
        return (), False
    if len(left.extra) == len(right.extra) == 1 and left.extra[0].pattern == right.extra[0].pattern:
        a, b = left.extra[0], right.extra[0]
        node = intersect(definitions, a.node, b.node, dropped, depth)
        return ((n.Members(node, a.pattern, a.sources + b.sources),), False)
    dropped("patternProperties on both sides")
    return left.extra, False
