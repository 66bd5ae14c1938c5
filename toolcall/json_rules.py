"""Grammar rules of JSON values, from the normal form."""

import json
from typing import Final

from toolcall import nodes as n
from toolcall import numbers
from toolcall.ebnf import CONTROL, Rules, any_of, literal
from toolcall.formats import strings
from toolcall.keys import other_key
from toolcall.order import State, orders
from toolcall.string_rules import JSON_GUARD, Form, StringRules

QUOTE: Final = r'"\""'
_BOOLEAN: Final = '("true" | "false")'
_NULL: Final = '"null"'
_STOP: Final = f'"\\{CONTROL}'

_SPACE: Final = r"([ \n\t] | [ \n\t] [ \n\t] [ \n\t]{0,6})?"
"""Whitespace inside JSON: room for some indentation, and an end to a model that only writes spaces. None and one stand
apart, as a bounded run ends in the midst of the many tokens that begin with a space, and costs as `Form.follow` says:
under xgrammar 0.2.7, ten times the mask's time at p99."""

_NESTED_STATES: Final = 32
"""Most states spent on the order of an object's members: five in any order."""


class JsonRules:
    """Adds the rules of JSON values to a grammar.

    Args:
        rules: The grammar.
        guarded: Whether strings must not hold `</arg_value>`, because the JSON stands inside a call.
        enclosed: Whether strings stand only inside arrays and objects.
    """

    def __init__(self, rules: Rules, *, guarded: bool, enclosed: bool) -> None:
        self.rules = rules
        self._follow = rf"{_SPACE} [,}}\]:]" if enclosed else ""
        self._guard = JSON_GUARD if guarded else ""
        self._strings = StringRules(rules, Form("string", json=True, guard=self._guard, follow=self._follow))
        self._definitions: dict[str, n.Node] = {}
        self._scope = ""

    def enter(self, definitions: dict[str, n.Node], scope: str) -> None:
        """Turn to another schema: references now mean its definitions, under names that begin with `scope`."""
        self._definitions = definitions
        self._scope = scope

    def value(self, node: n.Node) -> str:
        """An expression for the JSON of a node."""
        match node:
            case n.Ref(pointer):
                return self._reference(pointer)
            case n.Union(options):
                return any_of([self.value(option) for option in options])
            case n.Array():
                return self._tuple(node) if node.prefix else self._array(node)
            case n.Object():
                return self._object(node)
        return self._scalar(node)

    def _scalar(self, node: n.Node) -> str:
        match node:
            case n.Literals(values):
                return self.texts([json.dumps(value, ensure_ascii=False) for value in values])
            case n.Text():
                return self._string(node)
            case n.Number():
                return self._number(node)
            case n.Boolean() | n.Null():
                return _BOOLEAN if isinstance(node, n.Boolean) else _NULL
        return self._any()

    def texts(self, texts: list[str]) -> str:
        """One of these texts."""
        return self.rules.share("texts", " | ".join(literal(text) for text in dict.fromkeys(texts)))

    def walk(self, states: tuple[State, ...], members: list[str], extra: str | None, comma: str, end: str) -> str:
        """Rules for an object's members in the orders of an automaton; returns the rule to start with.

        Args:
            states: The automaton.
            members: An expression for each named member.
            extra: An expression for a member that is not named, if one is allowed.
            comma: What stands between two members; with it every state comes twice, before the first and behind one.
            end: What stands behind the last.
        """
        prefix = self.rules.reserve("order")
        waiting: list[tuple[int, bool]] = []

        def visit(state: int, *, first: bool) -> str:
            rule = f"{prefix}_{state}{'f' if first and comma else ''}"
            if not self.rules.defined(rule):
                self.rules.define(rule, "")
                waiting.append((state, first))
            return rule

        def body(here: State, state: int, *, first: bool) -> str:
            options = [f"{members[at]} {visit(target, first=False)}" for at, target in here.edges]
            if here.extra and extra is not None:
                options.append(f"{extra} {visit(state, first=False)}")
            if comma and not first and options:
                options = [f"{comma}{any_of(options)}"]
            if here.skip is not None:
                options.append(visit(here.skip, first=first))
            return " | ".join([*options, end] if here.done else options)

        start = visit(0, first=True)
        while waiting:
            state, first = waiting.pop()
            rule = visit(state, first=first)
            self.rules.define(rule, body(states[state], state, first=first))
        return self.rules.define(prefix, start)

    def _string(self, node: n.Text) -> str:
        return f"{QUOTE} {self._strings.held(strings(node))}"

    def _number(self, node: n.Number) -> str:
        for name, body in numbers.RULES.items():
            self.rules.define(name, body)
        return self.rules.share("number", numbers.number(node))

    def _reference(self, pointer: str) -> str:
        name = f"{self._scope}ref_{list(self._definitions).index(pointer)}"
        if not self.rules.defined(name):
            self.rules.define(name, "")
            options = n.options(self._definitions, self._definitions[pointer])
            self.rules.define(name, any_of([self.value(option) for option in options]))
        return name

    def _any(self) -> str:
        """Any JSON value."""
        if not self.rules.defined("any"):
            self.rules.define("any", "")
            text, real = self._string(n.Text()), self._number(n.Number())
            items = f'"[" {_SPACE} (any ("," {_SPACE} any)* {_SPACE})? "]"'
            pair = f'{text} ":" {_SPACE} any'
            members = f'"{{" {_SPACE} ({pair} ("," {_SPACE} {pair})* {_SPACE})? "}}"'
            self.rules.define("any", f"{text} | {real} | {_BOOLEAN} | {_NULL} | {items} | {members}")
        return "any"

    def _array(self, node: n.Array) -> str:
        if node.longest == 0:
            return f'"[" {_SPACE} "]"'
        item = self.value(node.items)
        limit = "" if node.longest is None else node.longest - 1
        body = f'{item} ("," {_SPACE} {item}){{{max(node.shortest - 1, 0)},{limit}}} {_SPACE}'
        return self.rules.share("array", f'"[" {_SPACE} {body if node.shortest else f"({body})?"} "]"')

    def _tuple(self, node: n.Array) -> str:
        """An array whose first items have types of their own, from its end backwards."""
        width = max(len(node.prefix), node.shortest)
        tail = f'{_SPACE} "]"'
        if node.longest is None or node.longest > width:
            limit = "" if node.longest is None else node.longest - width
            tail = f'("," {_SPACE} {self.value(node.items)}){{0,{limit}}} {tail}'
        for at in reversed(range(width)):
            item = self.value(node.prefix[at] if at < len(node.prefix) else node.items)
            separator = f'"," {_SPACE} ' if at else ""
            end = f' | {_SPACE} "]"' if at >= node.shortest else ""
            tail = self.rules.share("tuple", f"{separator}{item} {tail}{end}")
        return self.rules.share("tuple", f'"[" {_SPACE} {tail}')

    def _member(self, value: str) -> str:
        """What stands behind a name; many members share it."""
        return self.rules.share("member", f'":" {_SPACE} {value}')

    def _name(self, name: str) -> str:
        """A name as JSON, written so that it does not hold the guard."""
        written = json.dumps(name, ensure_ascii=False)
        return written.replace("</", r"<\/") if self._guard and self._guard in written else written

    def _object(self, node: n.Object) -> str:
        members = [
            f"{literal(self._name(known.name))} {self._member(self.value(known.node))}" for known in node.properties
        ]
        extra = None
        if node.offered():
            names = [self._name(known.name)[1:-1] for known in node.properties]
            key = other_key(
                self.rules,
                names,
                self._strings.any,
                guard=self._guard,
                stop=_STOP,
                end=QUOTE,
                follow=self._follow,
                spaced=False,
            )
            value = any_of([self.value(each.node) for each in node.offered()])
            extra = f"{QUOTE} {key} {self._member(value)}"
        automata = orders(tuple(known.required for known in node.properties), _NESTED_STATES)
        comma, end = f'"," {_SPACE} ', f'{_SPACE} "}}"'
        starts = [self.walk(automaton, members, extra, comma, end) for automaton in automata]
        return self.rules.share("object", f'"{{" {_SPACE} {any_of(starts)}')


def json_grammar(shape: n.Shape) -> str:
    """The EBNF of the JSON values of a schema."""
    texts = any(isinstance(option, n.AnyValue | n.Text) for option in shape.options(shape.node))
    values = JsonRules(Rules(), guarded=False, enclosed=not texts)
    values.enter(shape.definitions, "")
    return values.rules.text(values.value(shape.node))
