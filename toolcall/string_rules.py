"""Grammar rules of strings: any at all, or those of an automaton, raw or behind the opening quote of a JSON string.

Inside a call no string holds `</arg_value>`. A state of an automaton is a rule, or several: one for each beginning of
that guard which may have been written when the state is reached.
"""

import functools
from typing import Final

import msgspec

from toolcall import charset as c
from toolcall import markers as m
from toolcall.automaton import Automaton
from toolcall.ebnf import Rules, free_text, one_of
from toolcall.escapes import ESCAPED, SHORT, code_units

GUARD: Final = m.VALUE_END
JSON_GUARD: Final = GUARD[:7]
"""Enough of it to be nothing else: each character costs as much as a third of all else about a JSON string. There,
`<\\/` writes it all the same."""

_MOST_STATES: Final = 128
"""Most rules of one automaton."""

_MOST_WIDE: Final = 2
"""Most of them that admit words: at each, xgrammar tries every word of the vocabulary, some 40 ms at 150K tokens, and
three times that inside JSON."""

_MOST_EXCLUDED: Final = 64
"""Most characters that free text may lack."""

_ASCII_END: Final = 0x80
_LETTERS: Final = (*c.of("abcdefghijklmnopqrstuvwxyz"), (0x4E00, 0x9FFF))
_WORDS: Final = 13
"""Of so many of these letters words are made."""

_CONTROL: Final = c.charset([(0, 0x1F)])
_NOT_RAW: Final = c.charset([*_CONTROL, *c.of('"\\')])
"""Characters that JSON strings cannot hold as they are."""


class Form(msgspec.Struct, frozen=True):
    """How strings are written in one place.

    Attributes:
        name: What their rules are called.
        json: Whether as in JSON, up to and with the closing quote; else raw.
        guard: What they must not hold, `GUARD` or a beginning of it; empty for nothing.
        follow: What stands behind them, as an expression without alternatives; empty where it is not known. Without it
            xgrammar decides anew at every step about each token that may cross the end, which takes milliseconds.
    """

    name: str
    json: bool
    guard: str
    follow: str


class Point(msgspec.Struct, frozen=True):
    """A state of an automaton, and how many characters of the guard stand before it."""

    state: int
    seen: int = 0


class Branch(msgspec.Struct, frozen=True):
    """Characters and where they lead."""

    ranges: c.Ranges
    to: Point


def branches(automaton: Automaton, point: Point, guard: str) -> list[Branch]:
    """Where the characters lead that may be written at a point."""
    # The first character of the guard does not occur in it again, so a mismatch leads back to its start.
    found: dict[Point, list[tuple[int, int]]] = {}
    for state, ranges in automaton.targets(point.state).items():
        left = ranges
        for at in {0, point.seen} if guard else ():
            step = c.meet(left, c.of(guard[at]))
            left = c.less(left, step)
            if step and at + 1 < len(guard):
                seen = at + 1 if _may_write(automaton, state, guard[at + 1]) else 0
                found.setdefault(Point(state, seen), []).extend(step)
        if left:
            found.setdefault(Point(state), []).extend(left)
    return [Branch(c.charset(ranges), to) for to, ranges in found.items()]


def _may_write(automaton: Automaton, state: int, character: str) -> bool:
    return any(c.meet(ranges, c.of(character)) for ranges in automaton.targets(state).values())


def _may_loop(automaton: Automaton, branch: Branch, guard: str) -> bool:
    """Whether a branch leads to a point, not of free text, at which its characters may come again and again.

    Only ASCII: xgrammar 0.2.7 takes `[à-ÿ]* [à-ÿ] rest` for `rest` as well.
    """
    if run(automaton, branch.to.state) is not None or branch.ranges[-1][1] >= _ASCII_END:
        return False
    again = (each.ranges for each in branches(automaton, branch.to, guard) if each.to == branch.to)
    return any(not c.less(branch.ranges, ranges) for ranges in again)


def is_free(automaton: Automaton, state: int) -> bool:
    """Whether anything may follow a state."""
    return automaton.accepting[state] and automaton.targets(state) == {state: c.ALL}


def run(automaton: Automaton, state: int) -> c.Ranges | None:
    """The characters that a state lacks if it is free text but for a few of them, up to the end; else None."""
    targets = automaton.targets(state)
    if not automaton.accepting[state] or list(targets) != [state]:
        return None
    lacking = c.complement(targets[state])
    return lacking if c.size(lacking) <= _MOST_EXCLUDED and not c.meet(lacking, c.of(GUARD[0])) else None


@functools.lru_cache(maxsize=1024)
def is_affordable(automaton: Automaton) -> bool:
    """Whether a grammar can afford to hold strings to an automaton."""
    points = [Point(0)]
    wide = 0
    for point in points:  # Grows as it goes.
        if run(automaton, point.state) is not None:
            # Any text at all is shared with every other string.
            wide += point.seen > 0 or not is_free(automaton, point.state)
            continue
        onward = branches(automaton, point, GUARD)
        points.extend(dict.fromkeys(branch.to for branch in onward if branch.to not in points))
        wide += _words(automaton, point, onward)
        if len(points) > _MOST_STATES or wide > _MOST_WIDE:
            return False
    return wide <= _MOST_WIDE


def _words(automaton: Automaton, point: Point, onward: list[Branch]) -> bool:
    """Whether words may be written at a point; those that only repeat its own or the next characters cost little."""
    costly = [
        branch for branch in onward if point.seen or not (branch.to == point or _may_loop(automaton, branch, GUARD))
    ]
    letters = c.charset([each for branch in costly for each in branch.ranges])
    return c.size(c.meet(letters, _LETTERS)) >= _WORDS


class StringRules:
    """Adds the rules of strings in one form to a grammar."""

    def __init__(self, rules: Rules, form: Form) -> None:
        self.rules = rules
        self._form = form
        self._guard = form.guard
        self._ahead = f" (={form.follow})" if form.follow else ""
        self._prefixes: dict[Automaton, str] = {}

    def any(self, seen: int = 0) -> str:
        """The rule of any string, behind so many characters of the guard."""
        name = f"{self._form.name}_after_{seen}" if seen else self._form.name
        if not self.rules.defined(name):
            self.rules.define(name, "")
            self.rules.define(name, self._run(name, (), seen, self._any_escape()))
        return name

    def held(self, automaton: Automaton | None) -> str:
        """The rule of the strings that an automaton admits; of any for None."""
        return self.any() if automaton is None else self._visit(automaton, Point(0))

    def _visit(self, automaton: Automaton, point: Point) -> str:
        if is_free(automaton, point.state):
            return self.any(point.seen)
        prefix = self._prefixes.setdefault(automaton, f"{self._form.name}_{len(self._prefixes)}")
        name = f"{prefix}_{point.state}_{point.seen}"
        if not self.rules.defined(name):
            self.rules.define(name, "")
            self.rules.define(name, self._body(automaton, point, name))
        return name

    def _body(self, automaton: Automaton, point: Point, name: str) -> str:
        """The body of a rule for what may follow a point."""
        lacking = run(automaton, point.state)
        escape = self._escape(automaton, point.state, name) if self._form.json else ""
        if lacking is not None and self._guard:
            return self._run(name, lacking, point.seen, escape)
        loop, options = "", [self._end()] if automaton.accepting[point.state] else []
        for branch in branches(automaton, point, self._guard):
            ranges = c.less(branch.ranges, _NOT_RAW) if self._form.json else branch.ranges
            if not ranges:
                continue
            onward = self._visit(automaton, branch.to)
            if branch.to == point:
                loop = f"{one_of(ranges)}* "
            elif _may_loop(automaton, branch, self._guard):
                # The same strings, but a word that goes on like this is recognised at once.
                options.append(f"{one_of(ranges)}* {one_of(ranges)} {onward}")
            else:
                options.append(f"{one_of(ranges)} {onward}")
        if escape:
            options.append(rf'"\\" {escape}')
        return f"{loop}({' | '.join(options)}){self._ahead}"

    def _end(self) -> str:
        return r'"\""' if self._form.json else '""'

    def _run(self, name: str, lacking: c.Ranges, seen: int, escape: str) -> str:
        """The body of a rule for free text without some characters.

        Behind a beginning of the guard, the rest of it is as good as the whole; it is then refused anywhere.
        """
        # xgrammar 0.2.7 overlooks an excluded text inside another; without one of its characters the guard is idle.
        guard = self._guard[seen:]
        excluded = [] if c.meet(lacking, c.of(guard)) else [guard]
        if not self._form.json:
            return free_text([*excluded, *_each(lacking)], self._form.follow)
        if not self._guard:
            raw = one_of(c.complement(c.charset([*lacking, *_NOT_RAW])))
            return rf'{raw}* ("\"" | "\\" {escape}){self._ahead}'
        excluded += _each(c.charset([*lacking, *_NOT_RAW]))
        # Two runs, because what stands behind one must be known, and cannot be one of two things.
        end = self.rules.define(f"{name}_end", free_text(excluded, rf'"\"" {self._form.follow}'))
        slash = self.rules.define(f"{name}_slash", free_text(excluded, r'"\\" ["\\/bfnrtu]'))
        return rf'({end} "\"" | {slash} "\\" {escape}){self._ahead}'

    def _any_escape(self) -> str:
        """The rule of any escape, which leads back to the string: a rule that ends costs as `Form.follow` says."""
        name = f"{self._form.name}_escape"
        if self._form.json and not self.rules.defined(name):
            whole = self.any()
            codes = " | ".join(code_units(((0, c.LAST),)))
            self.rules.define(name, rf'(["\\/bfnrt] {whole} | "u" ({codes}) {whole}){self._ahead}')
        return name

    def _escape(self, automaton: Automaton, state: int, name: str) -> str:
        """The rule of the escapes of characters that may be written in a state; empty when none has one."""
        options: list[str] = []
        targets = automaton.targets(state)
        if targets and all(ranges == c.ALL and is_free(automaton, to) for to, ranges in targets.items()):
            return self._any_escape()
        for target, ranges in targets.items():
            escaped = c.meet(ranges, ESCAPED)
            letters = "".join(letter for character, letter in SHORT.items() if c.meet(escaped, c.of(character)))
            if escaped:
                onward = self._visit(automaton, Point(target))
                options += [f"{one_of(c.of(letters))} {onward}"] if letters else []
                options.append(f'"u" ({" | ".join(code_units(escaped))}) {onward}')
        return self.rules.define(f"{name}_escape", f"({' | '.join(options)}){self._ahead}") if options else ""


def _each(ranges: c.Ranges) -> list[str]:
    return [chr(code) for low, high in ranges for code in range(low, high + 1)]
