"""Grammar rules of JSON values, from the normal form."""

import json
from typing import Final

from toolcall import charset as c
from toolcall import nodes as n
from toolcall import numbers
from toolcall.ebnf import CONTROL, Rules, any_of, literal, one_of
from toolcall.formats import strings
from toolcall.keys import other_key
from toolcall.order import State, orders
from toolcall.string_rules import JSON_GUARD, Form, StringRules

QUOTE: Final = r'"\""'
_BOOLEAN: Final = '("true" | "false")'
_NULL: Final = '"null"'
_STOP: Final = f'"\\{CONTROL}'

_SPACE: Final = r"[ \n\t]{0,8}"
"""Whitespace inside JSON: room for some indentation, and an end to a model that only writes spaces. Not a rule of its
own: it would end in the midst of the many tokens that begin with a space, and cost as `Form.follow` says."""

_LEADS_OF: Final = {n.Null: "n", n.Boolean: "tf", n.Number: "-0123456789", n.Array: "[", n.Object: "{", n.Text: '"'}
_LEADS: Final = "".join(_LEADS_OF.values())
_NAME: Final = '"'

_NESTED_STATES: Final = 64
"""Most states spent on the order of an object's members."""


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
            lead = "" if first else comma
            options = [f"{lead}{members[at]} {visit(target, first=False)}" for at, target in here.edges]
            if here.extra and extra is not None:
                options.append(f"{lead}{extra} {visit(state, first=False)}")
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
            value, name = self._space(_LEADS), self._space(_NAME)
            items = f'"[" {self._space(_LEADS + "]")} (any ("," {value} any)* {self._space("]")})? "]"'
            pair = f'{text} ":" {value} any'
            members = f'"{{" {self._space(_NAME + "}")} ({pair} ("," {name} {pair})* {self._space("}")})? "}}"'
            self.rules.define("any", f"{text} | {real} | {_BOOLEAN} | {_NULL} | {items} | {members}")
        return "any"

    def _space(self, leads: str) -> str:
        """A rule for whitespace before one of these characters."""
        before = f"(={one_of(c.of(leads))})"
        return self.rules.share("space", f"{_SPACE} {before}")

    def _leads(self, node: n.Node) -> str:
        """The characters with which the JSON of a node may begin."""
        found = ""
        for option in n.options(self._definitions, node):
            match option:
                case n.Literals(values):
                    found += "".join(json.dumps(value)[0] for value in values)
                case n.AnyValue():
                    found += _LEADS
                case _:
                    found += _LEADS_OF[type(option)]
        return found or _LEADS

    def _array(self, node: n.Array) -> str:
        end = self._space("]")
        if node.longest == 0:
            return f'"[" {end} "]"'
        item, leads = self.value(node.items), self._leads(node.items)
        limit = "" if node.longest is None else node.longest - 1
        body = f'{item} ("," {self._space(leads)} {item}){{{max(node.shortest - 1, 0)},{limit}}} {end}'
        if node.shortest:
            return self.rules.share("array", f'"[" {self._space(leads)} {body} "]"')
        return self.rules.share("array", f'"[" {self._space(leads + "]")} ({body})? "]"')

    def _tuple(self, node: n.Array) -> str:
        """An array whose first items have types of their own, from its end backwards."""
        width = max(len(node.prefix), node.shortest)
        tail = end = f'{self._space("]")} "]"'
        if node.longest is None or node.longest > width:
            limit = "" if node.longest is None else node.longest - width
            tail = f'("," {self._space(self._leads(node.items))} {self.value(node.items)}){{0,{limit}}} {tail}'
        for at in reversed(range(width)):
            item = node.prefix[at] if at < len(node.prefix) else node.items
            comma = '"," ' if at else ""
            more = f"{comma}{self._space(self._leads(item))} {self.value(item)} {tail}"
            tail = self.rules.share("tuple", f"{more} | {end}" if at >= node.shortest else more)
        return self.rules.share("tuple", f'"[" {tail}')

    def _name(self, name: str) -> str:
        """A name as JSON, written so that it does not hold the guard."""
        written = json.dumps(name, ensure_ascii=False)
        return written.replace("</", r"<\/") if self._guard and self._guard in written else written

    def _object(self, node: n.Object) -> str:
        members = [
            f'{literal(self._name(known.name))} ":" {self._space(self._leads(known.node))} {self.value(known.node)}'
            for known in node.properties
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
            others = n.union([each.node for each in node.offered()])
            extra = f'{QUOTE} {key} ":" {self._space(self._leads(others))} {self.value(others)}'
        automata = orders(tuple(known.required for known in node.properties), _NESTED_STATES)
        comma, end = f'"," {self._space(_NAME)} ', f'{self._space("}")} "}}"'
        starts = [self.walk(automaton, members, extra, comma, end) for automaton in automata]
        return self.rules.share("object", f'"{{" {self._space(_NAME + "}")} {any_of(starts)}')


def json_grammar(shape: n.Shape) -> str:
    """The EBNF of the JSON values of a schema."""
    texts = any(isinstance(option, n.AnyValue | n.Text) for option in shape.options(shape.node))
    values = JsonRules(Rules(), guarded=False, enclosed=not texts)
    values.enter(shape.definitions, "")
    return values.rules.text(values.value(shape.node))
