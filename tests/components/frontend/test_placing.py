"""Placing: what the index and the books tell the router."""

import logging

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from components.frontend.discovery import Card, Runtime
from components.frontend.fleet import Roster
from components.frontend.health import Health
from components.frontend.limits import Limited, LimitedRequest, Pin, Pins
from components.frontend.overlaps import Overlaps
from components.frontend.pairs import Prompt, Tokens
from components.frontend.placing import Placing
from components.frontend.router_metrics import RouterMetrics
from router import Costs, Overlap, Plain, Rank, Router, Sticky
from router.told import Booked

PREFILL = Card("glm", "prefill", 64, Runtime(10_000, 4))
DECODE = Card("glm", "decode", 64, Runtime(10_000))
NO_TOKENS = Prompt(np.empty(0, np.uint32))
WHOLE = Card("glm", "aggregated", 64, Runtime(10_000, 4))


class Workers:
    """Discovery of these workers."""

    def __init__(self, **cards: Card) -> None:
        self._cards = {int(name.removeprefix("w")): card for name, card in cards.items()}

    def ids(self) -> tuple[int, ...]:
        return tuple(self._cards)

    def cards(self) -> dict[int, Card]:
        return self._cards

    def addresses(self) -> dict[int, str]:
        return {}


class Index:
    """An index of what the test says."""

    def __init__(self, found: Overlaps | None) -> None:
        self._found = found

    def prepare(self, token_ids: Tokens) -> Prompt:
        return Prompt(token_ids, [1, 2])

    async def find(self, prompt: Prompt) -> Overlaps:  # noqa: ARG002 - the index's name
        if self._found is None:
            raise ConnectionError("the index is gone")
        return self._found


def placing(prefill: Workers, decode: Workers, found: Overlaps | None = None) -> Placing:
    roster = Roster("glm", prefill, decode, Health())
    router = Router(Limited(Sticky(Costs())))
    return Placing("glm", router, RouterMetrics(CollectorRegistry()), roster, lambda _whole, _size: Index(found))


def request(name: str = "1", session: str = "s", tokens: int = 6400, pins: Pins | None = None) -> LimitedRequest:
    return LimitedRequest(name, "glm", session, tokens, pins=pins or Pins())


async def test_a_prompt_goes_to_the_rank_that_has_it() -> None:
    place = placing(Workers(w1=PREFILL), Workers(w2=DECODE), {Rank(1, 3): Overlap(5120, 640)})

    placed = await place.place(request(), NO_TOKENS)

    assert placed.routing == {"prefill_worker_id": 1, "prefill_dp_rank": 3, "decode_worker_id": 2, "dp_rank": 0}
    assert (placed.overlap, placed.new_tokens) == (Overlap(5120, 640), 640)
    assert list(place.placed) == [placed]


async def test_ranks_of_an_engines_second_node_are_named_by_their_numbers_in_the_engine() -> None:
    nodes = Workers(w1=PREFILL, w3=Card("glm", "prefill", 64, Runtime(10_000, 4, 4)))
    place = placing(nodes, Workers(w2=DECODE), {Rank(3, 5): Overlap(5120)})

    placed = await place.place(request(), NO_TOKENS)

    assert placed.routing == {"prefill_worker_id": 3, "prefill_dp_rank": 5, "decode_worker_id": 2, "dp_rank": 0}


async def test_what_another_frontend_places_is_booked_before_the_first_request_here() -> None:
    place = placing(Workers(w1=PREFILL), Workers(w2=DECODE), {})

    place.hear("other", Booked("1", "s", 6400, 640, Rank(1, 2), Rank(2, 0)))
    book = place.router.prefill[Rank(1, 2)]

    assert (book.requests, book.waiting_tokens, place.peers.in_flight, place.router.in_flight) == (1, 640, 1, 0)
    place.lost("other")
    assert (book.requests, place.peers.in_flight) == (0, 0)


async def test_a_prompt_is_made_ready_as_soon_as_there_is_an_index() -> None:
    place = placing(Workers(w1=PREFILL), Workers(w2=DECODE), {})

    assert place.prepare(NO_TOKENS.token_ids).pairs is None
    await place.warm()
    assert place.prepare(NO_TOKENS.token_ids).pairs == [1, 2]


async def test_the_only_side_is_named_as_dynamo_names_it() -> None:
    place = placing(Workers(), Workers(w2=WHOLE), {Rank(2, 3): Overlap(5120)})

    assert (await place.place(request(), NO_TOKENS)).routing == {"decode_worker_id": 2, "dp_rank": 3}
    pinned = await place.place(request("2", pins=Pins(decode=Pin(2, 1))), NO_TOKENS)
    assert pinned.routing == {"decode_worker_id": 2, "dp_rank": 1}
    assert place.router.prefill[Rank(2, 1)].requests == 1


async def test_without_kv_events_a_session_stays_by_the_books() -> None:
    place = placing(Workers(w1=PREFILL), Workers(w2=DECODE), {})
    homes = set()
    for turn in range(4):
        placed = await place.place(request(str(turn), tokens=6400 + 100 * turn), NO_TOKENS)
        place.first_token(str(turn), placed)
        place.router.finish(str(turn), "stop", 0.0)
        homes.add(placed.routing["prefill_dp_rank"])

    assert len(homes) == 1
    assert placed.overlap == Overlap(6600)


async def test_an_index_that_fails_costs_no_request(caplog: pytest.LogCaptureFixture) -> None:
    place = placing(Workers(w1=PREFILL), Workers(w2=DECODE), None)

    with caplog.at_level(logging.ERROR):
        placed = await place.place(request(), NO_TOKENS)

    assert placed.routing["prefill_worker_id"] == 1
    assert "the index is gone" in caplog.text


async def test_what_a_client_pins_is_sent_as_it_came_though_nobody_knows_it() -> None:
    place = placing(Workers(w1=PREFILL), Workers(w2=DECODE), {})

    placed = await place.place(request(pins=Pins(prefill=Pin(99, 7))), NO_TOKENS)

    assert placed.routing == {"prefill_worker_id": 99, "prefill_dp_rank": 7, "decode_worker_id": 2, "dp_rank": 0}


async def test_the_plain_policy_leaves_everything_to_dynamo() -> None:
    place = Placing("glm", Router(Plain()), RouterMetrics(CollectorRegistry()))
    await place.warm()

    assert (await place.place(request(), NO_TOKENS)).routing == {}
    assert place.router.in_flight == 1


async def test_a_side_that_is_not_there_is_said(caplog: pytest.LogCaptureFixture) -> None:
    place = placing(Workers(), Workers(w2=DECODE), {})

    with caplog.at_level(logging.WARNING):
        await place.warm()

    assert "no prefill workers are seen" in caplog.text
