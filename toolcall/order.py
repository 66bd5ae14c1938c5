"""In which orders the members of an object may come.

Any order of everything takes a state for every subset of the members, so it is for small objects. Larger ones keep the
declared order among optional members, with required ones anywhere between; the largest keep either the declared order,
or that with the required members first.
"""

from typing import Final

import msgspec

SMALL: Final = 6
"""Most members that may come in any order at all."""


class State(msgspec.Struct, frozen=True):
    """A point between two members.

    Attributes:
        edges: Members that may come next, each with the state behind it.
        skip: A state whose edges hold here as well.
        done: Whether the object may end here.
        extra: Whether members that are not named may come here, and lead back to here.
    """

    edges: tuple[tuple[int, int], ...]
    skip: int | None = None
    done: bool = False
    extra: bool = True


def orders(required: tuple[bool, ...], budget: int) -> list[tuple[State, ...]]:
    """The orders of an object's members as one or more automata, each starting at state 0.

    Args:
        required: For each member, in declared order, whether it is required.
        budget: Most states to spend on freedom of order.
    """
    count, needed = len(required), [at for at, must in enumerate(required) if must]
    if count <= SMALL and 2**count <= budget:
        return [_any_order(required)]
    if 2 ** len(needed) * 2 * (count - len(needed) + 1) <= budget:
        return [_live(_required_anywhere(required, needed))]
    first = [*needed, *(at for at, must in enumerate(required) if not must)]
    declared = list(range(count))
    return [_live(_chain(required, each)) for each in ([declared] if first == declared else [declared, first])]


def _any_order(required: tuple[bool, ...]) -> tuple[State, ...]:
    """State `s` is the set of members written, as bits."""
    count = len(required)
    must = sum(1 << at for at in range(count) if required[at])
    return tuple(
        State(
            edges=tuple((at, state | 1 << at) for at in range(count) if not state >> at & 1),
            done=state & must == must,
        )
        for state in range(2**count)
    )


def _required_anywhere(required: tuple[bool, ...], needed: list[int]) -> list[State]:
    """A state for each set of required members written and each place among the optional ones, twice.

    The second of the two stands behind a skipped optional member: required ones are then no longer offered there, so
    that one text is read in one way.
    """
    optional = [at for at, must in enumerate(required) if not must]
    places = len(optional) + 1
    sets = 2 ** len(needed)

    def number(written: int, place: int, skipped: int) -> int:
        return (written * places + place) * 2 + skipped

    states: list[State] = []
    for written in range(sets):
        for place in range(places):
            ahead = [(optional[place], number(written, place + 1, 0))] if place < len(optional) else []
            beyond = number(written, place + 1, 1) if place < len(optional) else None
            missing = [
                (at, number(written | 1 << bit, place, 0)) for bit, at in enumerate(needed) if not written >> bit & 1
            ]
            done = written == sets - 1
            states.append(State(tuple(missing + ahead), beyond, done))
            states.append(State(tuple(ahead), beyond, done=False, extra=False))
    return states


def _chain(required: tuple[bool, ...], sequence: list[int]) -> list[State]:
    """One fixed order; a state before each member and one behind the last, twice as above."""
    last = len(sequence)
    states: list[State] = []
    for place in range(last + 1):
        edges = ((sequence[place], (place + 1) * 2),) if place < last else ()
        beyond = (place + 1) * 2 + 1 if place < last and not required[sequence[place]] else None
        done = all(not required[at] for at in sequence[place:])
        states.append(State(edges, beyond, done))
        states.append(State(edges, beyond, done=False, extra=False))
    return states


def _live(states: list[State]) -> tuple[State, ...]:
    """The same states without ways into those from which no end can be reached."""
    live = {at for at, state in enumerate(states) if state.done}
    grown = True
    while grown:
        reached = {
            at
            for at, state in enumerate(states)
            if state.skip in live or any(target in live for _, target in state.edges)
        }
        grown = not reached <= live
        live |= reached
    return tuple(
        State(
            tuple((member, target) for member, target in state.edges if target in live),
            state.skip if state.skip in live else None,
            state.done,
            state.extra,
        )
        for state in states
    )
