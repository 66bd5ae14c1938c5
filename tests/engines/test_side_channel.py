"""A prefill engine that lives while nobody reaches its NIXL side channel any more: what clients see of it."""

import asyncio
import subprocess
from collections.abc import Iterator

import pytest

from tests.engines.asking import ask, ask_all, said
from tests.engines.conftest import Start
from tests.engines.miniature import TRANSFERS, Miniature
from tests.live.chat import Chat, user
from tests.live.serving import until

GRAPH = "reachable"
HOST = "198.51.100.7"
"""One of the addresses for documentation, given to the loopback device: it can go while its listener stays."""

pytestmark = pytest.mark.timeout(600)


def _address(action: str) -> None:
    command = ["ip", "address", action, f"{HOST}/32", "dev", "lo"]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def reachable(serve: Start) -> Iterator[Miniature]:
    """One prefill engine, whose side channel has an address of its own, and two decoders."""
    try:
        _address("replace")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs iproute2, and the right to give the loopback device another address")
    try:
        yield serve("cpu-dense", "--Prefill.ServiceArgs.workers=1", f"--Prefill.side-channel-host={HOST}")
    finally:
        _address("replace")
        _address("del")


def decoders(graph: Miniature, decisions: int) -> set[str]:
    """The decoders of the last so many decisions."""
    return {decision["decode"]["chosen"] for decision in graph.state()["decisions"][:decisions]}


def test_nobody_is_refused_while_a_side_channel_is_lost(reachable: Miniature, chat: Chat) -> None:
    history = user(f"Remember this. {'Look at it again. ' * 60}")
    first = ask(chat, history)
    (home,) = decoders(reachable, 1)
    (other,) = {f"{each['worker']}:0" for each in reachable.state()["fleet"]["decode"]} - {home}
    _address("del")

    # A decoder that has asked for the memory's layout once does not ask again.
    ask(chat, [*history, said(first), *user("Go on. " * 20)])
    assert decoders(reachable, 1) == {home}
    # The other one asks in vain, and what it was given is placed again.
    news = [user(f"Session {number}. {'Look at it again. ' * 60}") for number in range(8)]
    answers = asyncio.run(ask_all(reachable, news))
    assert all(answer.usage and answer.usage.completion_tokens for answer in answers)
    assert other in decoders(reachable, len(news))
    until(lambda: any("is placed again" in line["message"] for line in reachable.lines), "word of the second placement")

    _address("replace")

    decoder = reachable.engine_of(other)

    def served_by_the_other() -> bool:
        asyncio.run(ask_all(reachable, news))
        return decoder.counter(TRANSFERS) > 0

    assert decoder.counter(TRANSFERS) == 0
    until(served_by_the_other, "the other decoder again", limit_s=60)
