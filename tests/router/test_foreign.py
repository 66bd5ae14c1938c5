"""What others have on a rank: never more than is there, and nothing where nobody else places."""

import random
from collections.abc import Iterator

import pytest

from router.foreign import LATE_MS, NOBODY, STALE_MS, Foreign, InHand, Others, Published, foreign


def test_all_of_it_is_others_where_the_books_have_nothing() -> None:
    published = Published(prefills=1, computed_tokens=4096, queued=2, queued_tokens=90_000, answering=3)

    assert foreign(published, 0, 0) == Foreign(3, 90_000, 4096, 3)


def test_none_of_it_is_others_where_the_books_have_as_many() -> None:
    published = Published(prefills=1, computed_tokens=4096, queued=2, queued_tokens=90_000, answering=3)

    assert foreign(published, 3, 100_000) == NOBODY
    assert foreign(published, 30, 1_000_000) == NOBODY


def test_what_remains_in_the_queue_is_the_whole_of_it_less_the_prompts_of_the_books() -> None:
    published = Published(prefills=1, computed_tokens=4096, queued=3, queued_tokens=90_000)

    # A step is shared by number: two of four requests are others'.
    assert foreign(published, 2, 50_000) == Foreign(2, 40_000, 2048, 0)


def test_an_idle_engine_has_nothing_of_others() -> None:
    assert foreign(Published(), 0, 0) == foreign(Published(), 5, 5000) == NOBODY


def test_who_left_a_moment_ago_is_still_counted() -> None:
    hand = InHand()
    hand.enter("a", 100)
    hand.enter("b", 200)
    hand.leave("a", 1000.0)
    hand.leave("a", 1001.0)

    assert hand.since(1000.0) == (2, 300)
    assert hand.since(1000.1) == (1, 200)


def test_who_left_long_ago_is_forgotten() -> None:
    hand = InHand()
    for number in range(1000):
        hand.enter(str(number), 1)
        hand.leave(str(number), 10.0 * number)

    assert hand.since(0.0)[0] == STALE_MS / 10 + 1


def test_figures_that_nobody_repeats_say_nothing_after_a_while() -> None:
    others = Others()
    others.report(Published(queued=1, queued_tokens=5000), 0.0, 50.0)

    assert others.at(STALE_MS).requests == 1
    assert others.at(50.0 + STALE_MS) == NOBODY


class Engine:
    """One rank that serves prompts in turn, and what frontends see of it, each on its own way and time.

    Times are in ms: a prompt reaches the engine, is computed in chunks of 4,096 tokens and leaves its queue with the
    first; after each step there are figures; a first token comes at the frontend after the last.
    """

    def __init__(self, chance: random.Random, late_ms: float) -> None:
        self._chance = chance
        self._late_ms = late_ms
        self.figures: list[tuple[float, Published]] = []
        self.first_tokens: dict[str, float] = {}

    def serve(self, prompts: list[tuple[float, str, int]]) -> None:
        """Serve prompts, each with the time at which it was placed, its name and its tokens."""
        arrived = sorted((at + self._chance.uniform(0, 20), name, tokens) for at, name, tokens in prompts)
        now = 0.0
        for number, (at, name, tokens) in enumerate(arrived):
            now = max(now, at)
            for start in range(0, tokens, 4096):
                chunk = min(4096, tokens - start)
                now += 10 + chunk * 0.02
                waiting = [size for came, _, size in arrived[number + 1 :] if came <= now]
                figures = Published(1, chunk, len(waiting), sum(waiting))
                self.figures.append((now + self._chance.uniform(0, self._late_ms), figures))
            self.first_tokens[name] = now + self._chance.uniform(5, 50)


def looks(engine: Engine, own: list[tuple[float, str, int]]) -> Iterator[Foreign]:
    """What a frontend makes of it that looks every 50 ms and placed these prompts."""
    others, seen, looked = Others(), 0, 0.0
    end = max(engine.first_tokens.values()) + 500
    placed, left = sorted(own), sorted((engine.first_tokens[name], name) for _, name, _ in own)
    figures = sorted(engine.figures, key=lambda each: each[0])
    now = 50.0
    while now < end:
        while placed and placed[0][0] <= now:
            _, name, tokens = placed.pop(0)
            others.in_hand.enter(name, tokens)
        while left and left[0][0] <= now:
            at, name = left.pop(0)
            others.in_hand.leave(name, at)
        fresh = [each for at, each in figures if looked < at <= now]
        if fresh:
            seen += len(fresh)
            yield others.report(fresh[-1], looked, now)
        looked, now = now, now + 50.0
    assert seen == len(figures)


def prompts(chance: random.Random, name: str, count: int) -> list[tuple[float, str, int]]:
    return [(chance.uniform(0, 10_000), f"{name}{n}", chance.randrange(100, 40_000)) for n in range(count)]


@pytest.mark.parametrize("seed", range(10))
def test_one_frontend_alone_sees_nobody_else_however_late_the_figures_are(seed: int) -> None:
    chance = random.Random(seed)
    engine, own = Engine(chance, LATE_MS), prompts(chance, "own", 60)
    engine.serve(own)

    assert set(looks(engine, own)) == {NOBODY}


@pytest.mark.parametrize("seed", range(3))
def test_beside_others_it_sees_no_more_than_they_placed(seed: int) -> None:
    chance = random.Random(seed)
    engine, own, theirs = Engine(chance, LATE_MS), prompts(chance, "own", 20), prompts(chance, "their", 40)
    engine.serve(own + theirs)

    seen = list(looks(engine, own))

    computed, placed = sum(each.computed_tokens for each in seen), sum(tokens for _, _, tokens in theirs)
    assert 0.3 * placed < computed <= placed
    assert max(each.requests for each in seen) <= len(theirs)
    assert max(each.prompt_tokens for each in seen) <= placed
