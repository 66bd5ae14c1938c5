"""One lock a key."""

from components.frontend.keylocks import KeyLocks


def test_equal_keys_share_a_lock_whatever_object_they_are() -> None:
    locks = KeyLocks()

    assert locks.of(b"tools") is locks.of(bytes(bytearray(b"tools")))


def test_keys_are_spread_over_many_locks() -> None:
    locks = KeyLocks()

    assert len({id(locks.of(str(number).encode())) for number in range(1000)}) > 32
