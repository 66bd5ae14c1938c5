"""Grammar rules of calls in GLM's form.

Every text that they admit is a call whose arguments belong to the tool's normal form, and no value in it holds
`</arg_value>`, so the first one is always structure.
"""

import json
from collections.abc import Sequence
from typing import Final

from toolcall import markers as m
from toolcall import nodes as n
from toolcall.ebnf import CONTROL, Rules, any_of, literal, other_than
from toolcall.formats import strings
from toolcall.json_rules import JsonRules
from toolcall.keys import other_key
from toolcall.order import orders
from toolcall.string_rules import GUARD, Form, StringRules
from toolcall.tools import Tool

_GAP: Final = '"\\n"?'
"""What stands between the parts of a call: nothing since GLM-4.7, one line break in GLM-4.5 and 4.6."""

_CLOSER: Final = literal(m.VALUE_END)
_TEXT: Final = Form("text", json=False, guard=GUARD, follow=_CLOSER)
_KEY_STOP: Final = f"< {CONTROL}"


def call_grammar(tools: Sequence[Tool], states: int, *, shallow: bool = False) -> str:
    """The EBNF of a call to one of some tools, from behind `<tool_call>` to before `</tool_call>`.

    Args:
        tools: The tools.
        states: Most states to spend on the order of one tool's arguments.
        shallow: Whether to hold values only to being a string or JSON, whatever the schema says of them.
    """
    calls = _CallRules(states, shallow=shallow)
    return calls.rules.text(" | ".join(calls.call(tool, at) for at, tool in enumerate(tools)))


class _CallRules:
    """Adds the rules of calls to a grammar that all tools share."""

    def __init__(self, states: int, *, shallow: bool) -> None:
        self.rules = Rules()
        self._json = JsonRules(self.rules, guarded=True, enclosed=True)
        self._strings = StringRules(self.rules, _TEXT)
        self._states = states
        self._shallow = shallow
        self._definitions: dict[str, n.Node] = {}

    def call(self, tool: Tool, number: int) -> str:
        """An expression for a call to a tool."""
        self._definitions = tool.shape.definitions
        self._json.enter(self._definitions, f"tool_{number}_")
        return f"{literal(tool.name)} {_GAP} {any_of([self._arguments(form) for form in tool.forms])}"

    def _arguments(self, form: n.Object) -> str:
        """The pairs of one form of arguments."""
        members = [self._pair(literal(m.KEY + known.name + m.KEY_END), known.node) for known in form.properties]
        extra = None
        if form.offered():
            key = other_key(
                self.rules,
                [known.name for known in form.properties],
                lambda _: self._key_rest(),
                guard="",
                stop=_KEY_STOP,
                end='""',
                follow=literal(m.KEY_END),
                spaced=True,
            )
            node = n.union([each.node for each in form.offered()])
            extra = self._pair(f"{literal(m.KEY)} {key} {literal(m.KEY_END)}", node)
        automata = orders(tuple(known.required for known in form.properties), self._states)
        return any_of([self._json.walk(automaton, members, extra, "", '""') for automaton in automata])

    def _pair(self, key: str, node: n.Node) -> str:
        value = self._value(node)
        return self.rules.share("pair", f"{key} {_GAP} {literal(m.VALUE)} {value} {_CLOSER} {_GAP}")

    def _key_rest(self) -> str:
        """A rule for the rest of a key that is not declared; behind a space it cannot end."""
        ahead = f"(={literal(m.KEY_END)})"
        self.rules.define("key_space", f'(" " key_space | {other_than(_KEY_STOP)} key) {ahead}')
        return self.rules.define("key", f'("" | " " key_space | {other_than(_KEY_STOP)} key) {ahead}')

    def _value(self, node: n.Node) -> str:
        """A value as it stands between `<arg_value>` and `</arg_value>`."""
        options = n.options(self._definitions, node)
        held = [strings(option) for option in options if isinstance(option, n.Text)]
        if None in held or any(isinstance(option, n.AnyValue) for option in options):
            # Any text is a string, so whatever else is allowed is allowed by this.
            return self._strings.any()
        if self._shallow:
            texts = any(isinstance(option, n.Text | n.Literals) for option in options)
            return self._strings.any() if texts else self._json.value(n.ANY)
        return any_of([self._plain(option) for option in options])

    def _plain(self, node: n.Node) -> str:
        """A value other than any text: strings raw, everything else JSON."""
        match node:
            case n.Text():
                return self._strings.held(strings(node))
            case n.Literals(values):
                return self._json.texts(
                    [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values]
                )
        return self._json.value(node)
