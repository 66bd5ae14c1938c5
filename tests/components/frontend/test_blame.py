"""Whose fault a failure is, with workers that really listen or do not."""

import asyncio
import socket
from contextlib import ExitStack

import pytest
from prometheus_client import CollectorRegistry

from components.frontend import health
from components.frontend.blame import Blame
from components.frontend.discovery import Card, Runtime
from components.frontend.fleet import Roster
from components.frontend.router_metrics import RouterMetrics

NOBODY = Exception("Internal: boom")
NAMED = Exception("instance_id=1 not found for endpoint dynamo/prefill/generate")


class Workers:
    """Discovery of workers at these addresses."""

    def __init__(self, **addresses: str) -> None:
        self.known = {int(name.removeprefix("w")): address for name, address in addresses.items()}

    def ids(self) -> tuple[int, ...]:
        return tuple(self.known)

    def cards(self) -> dict[int, Card]:
        return dict.fromkeys(self.known, Card("glm", "prefill", 64, Runtime(100)))

    def addresses(self) -> dict[int, str]:
        return {id_: address for id_, address in self.known.items() if address}


class Machine:
    """Addresses at which something listens until the machine ends."""

    def __init__(self) -> None:
        self._servers = ExitStack()

    def address(self) -> str:
        server = self._servers.enter_context(socket.create_server(("127.0.0.1", 0)))
        return f"127.0.0.1:{server.getsockname()[1]}"

    def end(self) -> None:
        self._servers.close()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is out may come back at once."""
    monkeypatch.setattr(health, "FIRST_BREAK_MS", 0.0)


def blame(workers: Workers) -> tuple[Blame, health.Health]:
    known = health.Health()
    roster = Roster("glm", workers, Workers(), known)
    return Blame("glm", roster, RouterMetrics(CollectorRegistry())), known


async def test_all_workers_of_a_machine_that_ends_are_out_at_the_first_failure() -> None:
    lost, kept = Machine(), Machine()
    blamed, known = blame(Workers(w1=lost.address(), w2=lost.address(), w3=kept.address()))
    lost.end()

    assert await blamed.failed({1, 3}, NOBODY) == {1}

    assert {id_: out.why for id_, out in known.excluded.items()} == {1: "unreachable", 2: "unreachable"}
    kept.end()


async def test_failures_at_one_moment_share_one_look_around() -> None:
    machine = Machine()
    blamed, known = blame(Workers(w1=machine.address()))
    machine.end()

    found = await asyncio.gather(*(blamed.failed({1}, NOBODY) for _ in range(20)))

    assert found == [{1}] * 20
    assert known.version == 1


async def test_a_worker_that_dynamo_shuns_is_to_blame_and_not_its_partner() -> None:
    machine = Machine()
    blamed, known = blame(Workers(w1=machine.address(), w2=machine.address()))
    await blamed.failed({1, 2}, NAMED)

    for _ in range(2 * health.STRIKES):
        assert await blamed.failed({1, 2}, Exception("no endpoints available to route work")) == {1}

    assert list(known.excluded) == [1]
    machine.end()


async def back(blamed: Blame, known: health.Health) -> bool:
    blamed.try_again()
    await asyncio.gather(*blamed._trials)
    return 1 not in known.excluded


@pytest.mark.usefixtures("short")
async def test_a_worker_that_answers_is_let_back_in() -> None:
    machine = Machine()
    blamed, known = blame(Workers(w1=machine.address()))
    await blamed.failed({1}, NAMED)

    assert await back(blamed, known)
    machine.end()


@pytest.mark.usefixtures("short")
async def test_a_process_started_at_its_address_does_not_answer_for_a_worker() -> None:
    machine = Machine()
    address = machine.address()
    workers = Workers(w1=address, w2=address)
    blamed, known = blame(workers)
    await blamed.failed({1}, NAMED)

    workers.known[3] = address

    assert not await back(blamed, known)
    del workers.known[3]
    assert await back(blamed, known), "who was there before is a neighbour"
    machine.end()


@pytest.mark.usefixtures("short")
async def test_a_worker_without_an_address_is_tried_by_a_request() -> None:
    blamed, known = blame(Workers(w1=""))
    await blamed.failed({1}, NAMED)

    assert await back(blamed, known)
