"""Writing xgrammar EBNF: literals, text that cannot hold some other text, and a growing set of shared rules."""

from typing import Final

from toolcall import charset as c

_ASCII_END: Final = 0x80
_PLAIN_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}

CONTROL: Final = "".join(map(chr, range(0x20)))
"""Characters that JSON strings cannot hold raw."""


def literal(text: str) -> str:
    """A terminal that matches exactly this text."""
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in _PLAIN_ESCAPES:
        return _PLAIN_ESCAPES[character]
    return character if character.isascii() and character.isprintable() else f"\\U{ord(character):08x}"


def one_of(ranges: c.Ranges) -> str:
    """A terminal that matches any one character of a set.

    xgrammar 0.2.7 negates only what is ASCII, so everything else is written as the ranges that it has.
    """
    if c.size(ranges) == 1:
        return literal(chr(ranges[0][0]))
    others = c.complement(ranges)
    if ranges and ranges[-1][1] == c.LAST and (not others or others[-1][1] < _ASCII_END):
        return f"[^{_members(others)}]"
    return f"[{_members(ranges)}]"


def other_than(characters: str) -> str:
    """A class of any one character but these."""
    return one_of(c.complement(c.of(characters)))


def _members(ranges: c.Ranges) -> str:
    return "".join(_in_class(low) if low == high else f"{_in_class(low)}-{_in_class(high)}" for low, high in ranges)


def _in_class(code: int) -> str:
    return f"\\{chr(code)}" if chr(code) in "\\]^-" else _escape(chr(code)) if chr(code) != '"' else '"'


class Rules:
    """The rules of one grammar, each kept once."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def define(self, name: str, body: str) -> str:
        """Set the body of a named rule; returns its name."""
        self._bodies[name] = body
        return name

    def defined(self, name: str) -> bool:
        """Whether a rule of this name exists."""
        return name in self._bodies

    def share(self, prefix: str, body: str) -> str:
        """The name of a rule with this body; equal bodies share one rule."""
        if body not in self._names:
            self._names[body] = self.define(f"{prefix}_{len(self._bodies)}", body)
        return self._names[body]

    def reserve(self, prefix: str) -> str:
        """A new name, for a rule whose body refers to itself."""
        name = f"{prefix}_{len(self._bodies)}"
        self._bodies[name] = ""
        return name

    def __len__(self) -> int:
        return len(self._bodies)

    def text(self, root: str) -> str:
        """The grammar, with this body as its root."""
        return "\n".join([f"root ::= {root}", *(f"{name} ::= {body}" for name, body in self._bodies.items()), ""])


def free_text(excluded: list[str], follow: str) -> str:
    """The body of a rule for any text that holds none of these.

    xgrammar follows such text with one automaton, which compiles ten times faster than the same in plain rules.

    Args:
        excluded: What must not occur.
        follow: What stands behind the text wherever the rule is used. Without it xgrammar decides anew at every step
            about each token that may cross the end, which takes milliseconds.
    """
    texts = ", ".join(literal(each) for each in excluded)
    return f"TagDispatch(loop_after_dispatch=false, excludes=({texts})) (={follow})"


def any_of(options: list[str]) -> str:
    """An expression for any one of several."""
    unique = list(dict.fromkeys(options))
    return unique[0] if len(unique) == 1 else f"({' | '.join(unique)})"
