import pytest

from toolcall.automaton import DEAD, Automaton, TooLargeError, both, build, lengths, together

ENDS_IN_A = Automaton((((0, 0), (97, 1), (98, 0)), ((0, 0), (97, 1), (98, 0))), (False, True))


def test_an_automaton_admits_its_strings_and_no_others() -> None:
    assert [ENDS_IN_A.matches(text) for text in ("a", "ba", "é😀a", "", "ab")] == [True, True, True, False, False]
    assert ENDS_IN_A.targets(0) == {0: ((0, 96), (98, 0x10FFFF)), 1: ((97, 97),)}


def test_states_that_nothing_tells_apart_become_one() -> None:
    # Counts to any number of characters, of which only "at least two" is asked.
    counted = build(0, lambda count: [(0, min(count + 1, 9))], lambda count: count > 1)
    assert counted == lengths(2, None)


def test_states_without_an_end_are_dropped() -> None:
    def follow(name: str) -> list[tuple[int, str | None]]:
        return [(0, "trap"), (97, "end" if name == "start" else None), (98, "trap")]

    assert build("start", follow, lambda name: name == "end") == Automaton(
        (((0, DEAD), (97, 1), (98, DEAD)), ((0, DEAD),)), (False, True)
    )
    assert build("trap", follow, lambda name: name == "end") is None


def test_an_intersection_admits_what_both_do() -> None:
    short = lengths(0, 2)
    assert short is not None
    joined = both(ENDS_IN_A, short)
    assert joined is not None
    assert [joined.matches(text) for text in ("a", "xa", "xxa", "ax")] == [True, True, False, False]
    assert joined == both(short, ENDS_IN_A)
    assert both(ENDS_IN_A, Automaton((((0, DEAD),),), (True,))) is None


@pytest.mark.parametrize(("least", "most"), [(0, 0), (0, 3), (2, 2), (1, None), (0, None), (3, 7)])
def test_lengths_count_characters(least: int, most: int | None) -> None:
    held = lengths(least, most)
    assert held is not None
    for count in range(10):
        assert held.matches("😀" * count) == (least <= count and (most is None or count <= most))


def test_lengths_out_of_order_admit_nothing_and_long_ones_are_too_large() -> None:
    assert lengths(2, 1) is None
    with pytest.raises(TooLargeError):
        lengths(0, 200_000)


def test_steps_of_several_automata_are_taken_at_once() -> None:
    assert together([(0, "a"), (5, "b")], [(0, 1), (3, 2), (5, 3)]) == [(0, ("a", 1)), (3, ("a", 2)), (5, ("b", 3))]
