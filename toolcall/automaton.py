"""Finite automata over characters: the sets of strings that patterns and lengths describe.

Deterministic, minimal and numbered in one way, so two automata of the same strings are equal.
"""

import functools
import itertools
from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeVar

import msgspec

from toolcall.charset import LAST, Ranges

DEAD: Final = -1
"""The state from which no end is reached."""

_MOST_STATES: Final = 128
"""Most states explored for one automaton; more than a grammar can afford."""

Steps = tuple[tuple[int, int], ...]
"""Where characters lead: `(first code point, target)`, ascending from 0, each up to the next."""

Name = TypeVar("Name", bound=Hashable)


class TooLargeError(ValueError):
    """More states than anybody could afford."""


class Automaton(msgspec.Struct, frozen=True):
    """A minimal deterministic automaton that admits at least one string; state 0 is the first.

    Attributes:
        steps: For each state, where characters lead.
        accepting: For each state, whether a string may end there.
    """

    steps: tuple[Steps, ...]
    accepting: tuple[bool, ...]

    def matches(self, text: str) -> bool:
        """Whether it admits a text."""
        state = 0
        for character in text:
            state = next(to for first, to in reversed(self.steps[state]) if first <= ord(character))
            if state == DEAD:
                return False
        return self.accepting[state]

    def targets(self, state: int) -> dict[int, Ranges]:
        """The states that follow one, each with the characters that lead there."""
        found: dict[int, Ranges] = {}
        ends = [first - 1 for first, _ in self.steps[state][1:]]
        for (first, to), last in zip(self.steps[state], [*ends, LAST], strict=True):
            if to != DEAD:
                found[to] = (*found.get(to, ()), (first, last))
        return found


def build(
    start: Name, follow: Callable[[Name], Iterable[tuple[int, Name | None]]], accepts: Callable[[Name], bool]
) -> Automaton | None:
    """The automaton of states that are found one from another.

    Args:
        start: The first state, by any name.
        follow: Where characters lead from a state, as in `Steps`, with None for nowhere.
        accepts: Whether a string may end in a state.

    Returns:
        None where no string is admitted.

    Raises:
        TooLargeError: There are too many states.
    """
    numbers: dict[Name, int] = {start: 0}
    names = [start]
    steps: list[Steps] = []
    for name in names:  # Grows as it goes.
        row: list[tuple[int, int]] = []
        for first, to in follow(name):
            if to is not None and to not in numbers:
                numbers[to] = len(names)
                names.append(to)
            row.append((first, DEAD if to is None else numbers[to]))
        steps.append(tuple(row))
        if len(names) > _MOST_STATES:
            raise TooLargeError(f"more than {_MOST_STATES} states")
    return _minimal(steps, [accepts(name) for name in names])


def _minimal(steps: list[Steps], accepting: list[bool]) -> Automaton | None:
    """The smallest automaton of the same strings, its states numbered in the order in which they are met."""
    live = _live(steps, accepting)
    if 0 not in live:
        return None
    kept = [state if state in live else DEAD for state in range(len(steps))]
    blocks = _blocks([_renamed(row, kept) for row in steps], accepting)
    members = {block: state for state, block in reversed(list(enumerate(blocks))) if state in live}
    order = [blocks[0]]
    for block in order:  # Grows as it goes.
        order.extend({blocks[to]: None for _, to in steps[members[block]] if to in live and blocks[to] not in order})
    numbers = {block: number for number, block in enumerate(order)}
    final = [numbers.get(block, DEAD) if state in live else DEAD for state, block in enumerate(blocks)]
    return Automaton(
        tuple(_renamed(steps[members[block]], final) for block in order),
        tuple(accepting[members[block]] for block in order),
    )


def _blocks(steps: list[Steps], accepting: list[bool]) -> list[int]:
    """Hopcroft's partition: for each state a number, the same for states that nothing tells apart."""
    # One column for the characters that lead alike from every state.
    columns = list(dict.fromkeys(to for _, to in together(*steps)))
    blocks = [{state for state, end in enumerate(accepting) if end == wanted} for wanted in (False, True)]
    block_of = [int(end) for end in accepting]
    waiting: list[set[int]] = [{DEAD}, *blocks]
    while waiting:
        splitter = waiting.pop()
        for column in columns:
            touched: dict[int, set[int]] = {}
            for state, to in enumerate(column):
                if to in splitter:
                    touched.setdefault(block_of[state], set()).add(state)
            for block, part in touched.items():
                rest = blocks[block] - part
                if rest:
                    blocks[block] = rest
                    for state in part:
                        block_of[state] = len(blocks)
                    blocks.append(part)
                    waiting += [part, rest]
    return block_of


def _live(steps: list[Steps], accepting: list[bool]) -> set[int]:
    """The states from which an end can be reached."""
    before: dict[int, set[int]] = {}
    for state, row in enumerate(steps):
        for _, to in row:
            before.setdefault(to, set()).add(state)
    waiting = [state for state, end in enumerate(accepting) if end]
    live = set(waiting)
    while waiting:
        found = before.get(waiting.pop(), set()) - live
        live |= found
        waiting.extend(found)
    return live


def _renamed(row: Steps, names: list[int]) -> Steps:
    """Steps to other numbers, with neighbours that lead to the same joined."""
    renamed = [(first, to if to == DEAD else names[to]) for first, to in row]
    return tuple(step for at, step in enumerate(renamed) if at == 0 or step[1] != renamed[at - 1][1])


def together(*rows: Iterable[tuple[int, Name]]) -> list[tuple[int, tuple[Name, ...]]]:
    """Where characters lead in several automata at once."""
    firsts = [dict(row) for row in rows]
    here = [row[0] for row in firsts]
    merged: list[tuple[int, tuple[Name, ...]]] = []
    for first in sorted(set(itertools.chain(*firsts))):
        here = [row.get(first, now) for row, now in zip(firsts, here, strict=True)]
        merged.append((first, tuple(here)))
    return merged


@functools.lru_cache(maxsize=1024)
def both(left: Automaton, right: Automaton) -> Automaton | None:
    """The strings in both; None where there is none.

    Raises:
        TooLargeError: There are too many states.
    """

    def follow(pair: tuple[int, ...]) -> list[tuple[int, tuple[int, ...] | None]]:
        steps = together(left.steps[pair[0]], right.steps[pair[1]])
        return [(first, None if DEAD in to else to) for first, to in steps]

    start: tuple[int, ...] = (0, 0)
    return build(start, follow, lambda pair: left.accepting[pair[0]] and right.accepting[pair[1]])


def lengths(least: int, most: int | None) -> Automaton | None:
    """The strings of so many characters, `most` None for no limit; None where there is none.

    Raises:
        TooLargeError: There are too many states.
    """
    last = least if most is None else most
    if last < least:
        return None
    if last >= _MOST_STATES:
        raise TooLargeError(f"more than {_MOST_STATES} states")
    steps = [((0, count + 1),) for count in range(last)]
    steps.append(((0, last if most is None else DEAD),))
    return Automaton(tuple(steps), (False,) * least + (True,) * (last - least + 1))
