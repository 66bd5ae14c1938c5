from toolcall import charset as c


def test_sets_are_ascending_and_apart() -> None:
    assert c.charset([(5, 9), (1, 3), (4, 4), (8, 12), (20, 20)]) == ((1, 12), (20, 20))
    assert c.of("cab") == ((97, 99),)
    assert c.of("") == ()


def test_complement_is_all_the_rest() -> None:
    for ranges in ((), c.ALL, ((0, 5),), ((7, 9), (c.LAST, c.LAST))):
        other = c.complement(ranges)
        assert c.size(ranges) + c.size(other) == c.LAST + 1
        assert c.complement(other) == ranges


def test_meet_and_less_split_a_set() -> None:
    left, right = c.of("abcdxyz"), c.of("cdeyz9")
    assert c.meet(left, right) == c.of("cdyz")
    assert c.less(left, right) == c.of("abx")
