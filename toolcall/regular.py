"""From a regular expression to the automaton of the strings that it matches."""

from collections.abc import Iterable
from typing import Final

import msgspec

from toolcall.automaton import Automaton, TooLargeError, build, together
from toolcall.charset import ALL, LAST, Ranges
from toolcall.expression import Characters, Choice, Edge, Expression, Repeat, Sequence

_MOST_STATES: Final = 2000
"""Most states before they are made deterministic; repetitions are written out."""

_MATCHED: Final = 0
"""The state behind a match."""


class _State(msgspec.Struct):
    """A state that may lead to several.

    Attributes:
        read: The characters that lead to `onward`; none where it leads on without one.
        onward: The states that follow.
        edge: What must hold to go on without a character: the start of the text, or its end.
    """

    onward: list[int]
    read: Ranges = ()
    edge: Edge | None = None


def searched(expression: Expression) -> Automaton | None:
    """The automaton of the strings in which an expression matches somewhere; None where there is none.

    Raises:
        TooLargeError: It has too many states.
    """
    machine = _Machine()
    start = machine.add(_State([]))
    # Whatever precedes the match.
    machine.states[start].onward = [machine.before(expression, _MATCHED), machine.add(_State([start], ALL))]
    return build(
        machine.reached([start], first=True),
        machine.follow,
        lambda states: _MATCHED in machine.reached(states, last=True),
    )


class _Machine:
    """Thompson's construction, from the end to the start."""

    def __init__(self) -> None:
        self.states = [_State([])]

    def add(self, state: _State) -> int:
        """Add a state; returns its number."""
        if len(self.states) == _MOST_STATES:
            raise TooLargeError(f"more than {_MOST_STATES} states")
        self.states.append(state)
        return len(self.states) - 1

    def before(self, part: Expression, then: int) -> int:
        """The state from which a part leads to another state."""
        match part:
            case Characters(ranges):
                return self.add(_State([then], ranges)) if ranges else self.add(_State([]))
            case Sequence(parts):
                for each in reversed(parts):
                    then = self.before(each, then)
                return then
            case Choice(options):
                return self.add(_State([self.before(option, then) for option in options]))
            case Repeat():
                return self._repeat(part, then)
        return self.add(_State([then], edge=part))

    def _repeat(self, part: Repeat, then: int) -> int:
        if part.most is None:
            loop = self.add(_State([]))
            self.states[loop].onward = [self.before(part.part, loop), then]
            then = loop
        else:
            end = then
            for _ in range(part.most - part.least):
                then = self.add(_State([self.before(part.part, then), end]))
        for _ in range(part.least):
            then = self.before(part.part, then)
        return then

    def reached(self, states: Iterable[int], *, first: bool = False, last: bool = False) -> frozenset[int]:
        """The states reached without a character, at the start or the end of the text or neither."""
        found, waiting = set(states), list(states)
        while waiting:
            state = self.states[waiting.pop()]
            if state.read or (state.edge is not None and not (last if state.edge.end else first)):
                continue
            waiting.extend(set(state.onward) - found)
            found.update(state.onward)
        # Behind a match anything may follow.
        return frozenset([_MATCHED]) if _MATCHED in found else frozenset(found)

    def follow(self, states: frozenset[int]) -> list[tuple[int, frozenset[int] | None]]:
        """Where characters lead from a set of states."""
        if _MATCHED in states:
            return [(0, states)]
        reading = [self.states[at] for at in states if self.states[at].read]
        steps = together([(0, False)], *(_steps(state.read) for state in reading))
        return [
            (first, self.reached([state.onward[0] for state, reads in zip(reading, here[1:], strict=True) if reads]))
            for first, here in steps
        ]


def _steps(ranges: Ranges) -> list[tuple[int, bool]]:
    """Whether each character is in a set, as steps."""
    steps = {0: False}
    for low, high in ranges:
        steps[low] = True
        if high < LAST:
            steps[high + 1] = False
    return list(steps.items())
