import itertools

import pytest

from toolcall.order import SMALL, State, orders


def accepts(automata: list[tuple[State, ...]], sequence: tuple[int, ...]) -> bool:
    return any(_walk(states, 0, sequence) for states in automata)


def _walk(states: tuple[State, ...], at: int, sequence: tuple[int, ...]) -> bool:
    here = states[at]
    if not sequence and here.done:
        return True
    if here.skip is not None and _walk(states, here.skip, sequence):
        return True
    return bool(sequence) and any(
        _walk(states, target, sequence[1:]) for member, target in here.edges if member == sequence[0]
    )


def complete(required: tuple[bool, ...], sequence: tuple[int, ...]) -> bool:
    return len(set(sequence)) == len(sequence) and all(at in sequence for at, must in enumerate(required) if must)


@pytest.mark.parametrize("required", [(), (True,), (False, True, False), (True, False, True, False)])
def test_few_members_come_in_any_order(required: tuple[bool, ...]) -> None:
    automata = orders(required, budget=64)
    for length in range(len(required) + 2):
        for sequence in itertools.product(range(len(required)), repeat=length):
            assert accepts(automata, sequence) == complete(required, sequence)


def test_required_members_come_anywhere_among_many_optional_ones() -> None:
    required = (False, False, True, False, False, False, True)
    automata = orders(required, budget=64)
    optional = [at for at, must in enumerate(required) if not must]
    for chosen in itertools.chain.from_iterable(itertools.combinations(optional, k) for k in range(4)):
        for places in itertools.product(range(len(chosen) + 1), repeat=2):
            sequence = list(chosen)
            sequence.insert(places[0], 2)
            sequence.insert(places[1], 6)
            assert accepts(automata, tuple(sequence))
    assert not accepts(automata, (0, 2))
    assert not accepts(automata, (1, 0, 2, 6))
    assert not accepts(automata, (2, 2, 6))


def test_beyond_the_budget_declared_order_and_required_first_remain() -> None:
    required = tuple(at % 2 == 1 for at in range(20))
    automata = orders(required, budget=64)
    needed = tuple(at for at in range(20) if required[at])
    assert accepts(automata, tuple(range(20)))
    assert accepts(automata, needed)
    assert accepts(automata, (*needed, 0, 18))
    assert not accepts(automata, needed[1:])
    assert not accepts(automata, (*needed, 18, 0))


@pytest.mark.parametrize("budget", [1, 16, 64])
@pytest.mark.parametrize("count", [0, 3, SMALL, SMALL + 1, 40])
def test_no_way_leads_nowhere_and_the_budget_holds(budget: int, count: int) -> None:
    for states in orders(tuple(at % 3 == 0 for at in range(count)), budget):
        assert len(states) <= max(budget, 2 * count + 2)
        reachable, waiting = set(), [0]
        while waiting:
            at = waiting.pop()
            if at not in reachable:
                reachable.add(at)
                state = states[at]
                assert state.done or state.edges or state.skip is not None
                waiting += [target for _, target in state.edges]
                waiting += [] if state.skip is None else [state.skip]
