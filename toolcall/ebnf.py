"""Writing xgrammar EBNF: literals, text that cannot hold some other text, and a growing set of shared rules."""

import sys
from typing import Final

_PLAIN_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}

CONTROL: Final = "".join(map(chr, range(0x20)))
"""Characters that JSON strings cannot hold raw."""

# A surrogate alone is no character, so it comes only in pairs.
_HEX: Final = "[0-9a-fA-F]"
_UNICODE: Final = (
    f'"u" ([0-9a-cefA-CEF] {_HEX} {_HEX} {_HEX} | [dD] [0-7] {_HEX} {_HEX} | '
    f'[dD] [89abAB] {_HEX} {_HEX} "\\\\u" [dD] [c-fC-F] {_HEX} {_HEX})'
)
_SHORT_ESCAPE: Final = r'["\\/bfnrt]'


def literal(text: str) -> str:
    """A terminal that matches exactly this text."""
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in _PLAIN_ESCAPES:
        return _PLAIN_ESCAPES[character]
    return character if character.isascii() and character.isprintable() else f"\\U{ord(character):08x}"


def other_than(characters: str) -> str:
    """A class of any one character but these.

    xgrammar 0.2.7 negates only what is ASCII, so with other characters it is written as the ranges between them.
    """
    codes = sorted(set(map(ord, characters)))
    if characters.isascii():
        return f"[^{''.join(_in_class(code) for code in codes)}]"
    ranges: list[str] = []
    following = 0
    for code in [*codes, sys.maxunicode + 1]:
        if following < code:
            ranges.append(f"{_in_class(following)}-{_in_class(code - 1)}")
        following = code + 1
    return f"[{''.join(ranges)}]"


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


def json_string(rules: Rules, guard: str, follow: str) -> None:
    """Define `string`, the rest of a JSON string behind its opening quote, and `string_some`, the same but not empty.

    Args:
        rules: Where the rules go.
        guard: Text that must not occur, whose first character does not occur in it again; empty for none.
        follow: As for `free_text`; empty where it is not known.
    """
    ahead = f" (={follow})" if follow else ""
    # Escapes lead back to the string themselves: a rule of their own would end, and its end costs as above.
    rules.define("string_escape", rf"({_SHORT_ESCAPE} string | {_UNICODE} string){ahead}")
    common = r'"\\" string_escape'
    if guard:
        common += f" | {literal(guard[0])} string_1"
    stop = f'"\\{CONTROL}'
    run = f"{other_than(guard[:1] + stop)} string | {common}"
    rules.define("string", rf'("\"" | {run}){ahead}')
    rules.define("string_some", f"({run}){ahead}")
    # As Knuth, Morris and Pratt do: a mismatch leads back to the start, or behind a first character.
    for at in range(1, len(guard)):
        options = [r'"\""', f"{other_than(guard[0] + guard[at] + stop)} string", common]
        if at + 1 < len(guard):
            options.append(f"{literal(guard[at])} string_{at + 1}")
        rules.define(f"string_{at}", f"({' | '.join(options)}){ahead}")


def any_of(options: list[str]) -> str:
    """An expression for any one of several."""
    unique = list(dict.fromkeys(options))
    return unique[0] if len(unique) == 1 else f"({' | '.join(unique)})"
