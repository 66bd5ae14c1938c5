"""A prefill engine whose ranks step together."""

from collections.abc import Sequence

from router.costs import Costs
from router.replay.prefill import PrefillEngine, Prompt
from router.replay.prefixes import Prefixes

BLOCK = 64
COSTS = Costs(prefill_token_us=10.0, context_token_ns=0.0, step_ms=5.0, budget_tokens=1024)


def engine(blocks: Sequence[tuple[int, int]], ranks: int = 4) -> tuple[PrefillEngine, list[Prompt]]:
    """Return an engine and a prompt of each run of blocks."""
    tree = Prefixes()
    ends = [tree.insert([run]) for run in blocks]
    tree.freeze()
    prompts = [
        Prompt(key, tree.path(end), count * BLOCK, 0)
        for key, (end, (_, count)) in enumerate(zip(ends, blocks, strict=True))
    ]
    return PrefillEngine(tree, BLOCK, ranks, 1_000 * BLOCK, COSTS), prompts


def test_nothing_to_do_is_no_step() -> None:
    idle, _ = engine([])

    assert idle.step(0.0) is None


def test_a_step_takes_as_long_as_its_slowest_rank() -> None:
    running, (short, long) = engine([(0, 1), (100, 10)])
    running.enqueue(0, short)
    running.enqueue(1, long)

    step = running.step(0.0)

    assert step is not None
    length, done = step
    assert length == 640 * 0.01 + 5.0
    assert {prompt.key for prompt in done} == {short.key, long.key}
    assert running.busy_ms / running.stepped_ms < 0.5


def test_a_long_prompt_takes_a_budget_a_step() -> None:
    running, (prompt,) = engine([(0, 40)])
    running.enqueue(0, prompt)

    steps = [running.step(float(now)) for now in range(4)]

    assert [step is not None and step[0] for step in steps] == [
        1024 * 0.01 + 5.0,
        1024 * 0.01 + 5.0,
        512 * 0.01 + 5.0,
        False,
    ]
    assert [step is not None and len(step[1]) for step in steps] == [0, 0, 1, False]
    assert running.ranks[0].computed_tokens == 40 * BLOCK


def test_a_rank_serves_in_order_of_arrival_and_fills_its_budget() -> None:
    running, prompts = engine([(0, 12), (100, 8), (200, 1)])
    for prompt in prompts:
        running.enqueue(0, prompt)

    first, second = running.step(0.0), running.step(20.0)

    assert first is not None
    assert second is not None
    assert [prompt.key for prompt in first[1]] == [0]
    assert [prompt.key for prompt in second[1]] == [1, 2]
    assert [prompt.started_ms for prompt in prompts] == [0.0, 0.0, 20.0]


def test_what_is_cached_is_not_computed_again_but_for_the_last_block() -> None:
    running, (prompt, again) = engine([(0, 10), (0, 10)])
    for each in (prompt, again):
        running.enqueue(0, each)
        running.step(0.0)

    assert (again.device, again.left) == (9 * BLOCK, 0)
    assert running.ranks[0].computed_tokens == 11 * BLOCK


def test_a_rank_does_not_see_what_another_holds() -> None:
    running, (prompt, again) = engine([(0, 10), (0, 10)])
    running.enqueue(0, prompt)
    running.step(0.0)
    running.enqueue(1, again)
    running.step(1.0)

    assert again.device == 0


def test_fetched_blocks_need_no_compute_and_are_no_device_hit() -> None:
    running, (prompt,) = engine([(0, 10)])
    prompt.fetched = 6
    running.enqueue(0, prompt)
    running.step(0.0)

    assert (prompt.device, prompt.cached) == (0, 6 * BLOCK)
    assert running.ranks[0].computed_tokens == 4 * BLOCK


def test_a_prompt_that_nobody_waits_for_is_not_computed() -> None:
    running, (one, other) = engine([(0, 10), (100, 20)])
    running.enqueue(0, one)
    running.enqueue(0, other)

    running.drop([one.key])
    step = running.step(0.0)

    assert step is not None
    assert step[1] == []
    assert running.ranks[0].computed_tokens == 20 * BLOCK


def test_an_engine_that_dies_loses_its_queues_and_what_it_held() -> None:
    running, (one, other) = engine([(0, 10), (100, 20)])
    running.enqueue(0, one)
    running.step(0.0)
    running.enqueue(0, other)

    running.lose_all()

    assert running.step(1.0) is None
    assert running.ranks[0].cache.match(one.path) == 0
    assert running.ranks[0].computed_tokens == 10 * BLOCK
