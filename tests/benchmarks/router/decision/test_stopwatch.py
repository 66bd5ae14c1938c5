import asyncio

import pytest

from benchmarks.router.decision.stopwatch import timed


class Owner:
    def now(self, value: int) -> int:
        if value < 0:
            raise ValueError(value)
        return value

    async def later(self, value: int) -> int:
        await asyncio.sleep(0.01)
        return value


async def test_every_call_is_timed_and_answers_as_before() -> None:
    with timed(Owner, "now") as now, timed(Owner, "later") as later:
        assert Owner().now(3) == 3
        assert await Owner().later(4) == 4
        with pytest.raises(ValueError, match="-1"):
            Owner().now(-1)

    assert (len(now), len(later)) == (2, 1)
    assert later[0] >= 10


def test_afterwards_the_method_is_what_it_was() -> None:
    original = Owner.now
    with timed(Owner, "now") as took:
        pass

    assert Owner.now is original
    Owner().now(1)
    assert took == []
