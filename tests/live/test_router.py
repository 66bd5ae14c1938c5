"""The router over the real graph: sessions stay where their prompt is, and nobody is hurt by a worker that dies."""

import asyncio
import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count, pairwise
from pathlib import Path

import psutil
from openai import APIStatusError, AsyncOpenAI

from tests.live.chat import NO_THINKING, Chat, Json, blocks, user
from tests.live.serving import Graph, free_port, until

MARGIN_S = 2.0
"""After a worker is killed, nothing may fail later than this."""

SHARED = "You are a careful agent. Read before you write, and say what you found. " * 100


def state(url: str) -> Json:
    """What the router of a frontend knows of its one model."""
    with urllib.request.urlopen(f"{url}/router/state", timeout=20) as answer:  # noqa: S310 - our own server
        (known,) = json.load(answer)["models"].values()
    found: Json = known
    return found


def turns(chat: Chat, opening: str, count: int) -> Iterator[int]:
    """Have a conversation; the tokens of each prompt that were found cached."""
    history = user(opening)
    for _ in range(count):
        answer = chat.whole(history, max_tokens=16, extra_body=NO_THINKING)
        assert answer.usage is not None
        assert answer.usage.prompt_tokens_details is not None
        yield answer.usage.prompt_tokens_details.cached_tokens or 0
        history += [{"role": "assistant", "content": answer.content}, *user("Go on. " * 60)]


def places(url: str, side: str, count: int) -> list[str]:
    """Where the last requests went, the latest last."""
    return [decision[side]["chosen"] for decision in state(url)["decisions"][:count]][::-1]


def test_a_session_stays_on_the_rank_that_has_its_prompt(graph: Graph, chat: Chat) -> None:
    cached = list(turns(chat, f"Stay. {SHARED}", 4))

    assert len(set(places(graph.url, "prefill", 4))) == 1
    assert all(after >= before > 0 for before, after in pairwise(cached[1:])), cached
    decisions = state(graph.url)["decisions"][:4][::-1]
    assert [decision["prefill"]["reason"] for decision in decisions[1:]] == ["home"] * 3
    # What the index says beforehand is what the engine finds.
    assert [decision["cached_tokens"]["device"] for decision in decisions] == cached
    assert cached[1] == blocks(decisions[0]["prompt_tokens"])


def test_sessions_that_share_a_prompt_are_spread_over_the_ranks(graph: Graph) -> None:
    async def together() -> None:
        async with AsyncOpenAI(base_url=f"{graph.url}/v1", api_key="none", max_retries=0) as client:
            asked = [user(f"{SHARED} This is session {number}. {'Begin. ' * 200}") for number in range(16)]
            await asyncio.gather(
                *(
                    client.chat.completions.create(
                        model=graph.model, messages=messages, max_tokens=8, extra_body=NO_THINKING
                    )
                    for messages in asked
                )
            )

    asyncio.run(together())

    ranks = places(graph.url, "prefill", 16)
    assert len(set(ranks)) >= 4, ranks
    assert max(ranks.count(rank) for rank in ranks) <= 6, ranks
    assert graph.metric("dynamo_glm_router_rank_imbalance") >= 1


def test_first_tokens_come_as_expected_once_prices_are_learnt(graph: Graph, chat: Chat) -> None:
    for number in range(12):
        list(turns(chat, f"Expect {number}. " + f"{number} is the number of this session. " * 800, 3))

    last = state(graph.url)["decisions"][:12]
    assert sum(decision["prompt_tokens"] - decision["cached_tokens"]["device"] for decision in last) > 20_000
    # The mock engine computes a token in 1.5 us: at the starting price of 83, ten times as long was expected.
    expected = sum(decision["expected_first_token_ms"] for decision in last)
    came = sum(decision["first_token_ms"] for decision in last)
    assert came / 4 < expected < came * 2
    assert 0 < graph.metric("dynamo_glm_router_price", price="prefill_token_us") < 83 / 4


class Load:
    """Conversations without an end, each request of which is noted with when it ended and how."""

    def __init__(self, graph: Graph, sessions: int) -> None:
        self.failed: list[tuple[float, int]] = []
        self.served: list[float] = []
        self._graph, self._sessions = graph, sessions
        self._stop = asyncio.Event()

    async def run(self, script: Callable[["Load"], object]) -> None:
        """Keep the load up while a script runs on a thread."""
        async with AsyncOpenAI(base_url=f"{self._graph.url}/v1", api_key="none", max_retries=0) as client:
            talking = [asyncio.create_task(self._talk(client, number)) for number in range(self._sessions)]
            try:
                await asyncio.to_thread(script, self)
            finally:
                self._stop.set()
                await asyncio.gather(*talking)

    async def _talk(self, client: AsyncOpenAI, number: int) -> None:
        history = user(f"Session {number}. {SHARED}")
        while not self._stop.is_set():
            try:
                answer = await client.chat.completions.create(
                    model=self._graph.model, messages=history, max_tokens=24, extra_body=NO_THINKING
                )
            except APIStatusError as error:
                self.failed.append((time.monotonic(), error.status_code))
                continue
            self.served.append(time.monotonic())
            said = answer.choices[0].message.content or ""
            history += [{"role": "assistant", "content": said}, *user("Go on. " * 20)]

    def survive(self, *victims: psutil.Process, served: int) -> None:
        """Kill workers, wait until so many requests have been served after the margin, and see what failed."""
        killed = time.monotonic()
        for victim in victims:
            victim.send_signal(signal.SIGKILL)
        late = killed + MARGIN_S
        until(lambda: sum(end > late for end in self.served) >= served, "served after the kill")
        assert not [(end - killed, why) for end, why in self.failed if end > late], self._graph.tail()
        assert {why for _, why in self.failed} <= {503}, "a worker's death is no fault of the client's"


def test_nobody_is_hurt_by_workers_that_die(start_graph: Callable[..., Graph]) -> None:
    graph = start_graph(
        "--Decode.inter-token-latency-ms=0.3",
        "--Prefill.ServiceArgs.workers=2",
        "--Decode.ServiceArgs.workers=2",
        "--Prefill.speedup-ratio=100",
    )
    load = Load(graph, 8)

    def script(load: Load) -> None:
        until(lambda: len(load.served) > 40, "served")
        load.survive(graph.processes("Decode")[0], served=20)
        load.survive(graph.processes("Prefill")[0], served=20)
        assert graph.metric("dynamo_glm_router_placed_again_total", outcome="served") >= 1
        assert graph.metric("dynamo_glm_router_placed_again_total", outcome="failed") == 0
        # Nobody is left to compute a prompt until the supervisor has started the next.
        load.survive(*graph.processes("Prefill"), served=20)

    asyncio.run(load.run(script))

    known = state(graph.url)
    alive = {each["worker"] for side in ("prefill", "decode") for each in known["fleet"][side]}
    sessions = known["sessions"]["latest"]
    homes = {session[side].split(":")[0] for session in sessions for side in ("prefill", "decode") if session[side]}
    assert len(homes) >= 2
    assert homes <= alive


@contextmanager
def second_frontend(graph: Graph, log: Path, *flags: str) -> Iterator[str]:
    """Another frontend over the same workers, with other flags; its URL."""
    (first,) = graph.processes("Frontend")
    port = free_port()
    command = [*(str(port) if word == str(graph.port) else word for word in first.cmdline()), *flags]
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=first.environ(), cwd=first.cwd(), stdout=output, stderr=output)
    url = f"http://127.0.0.1:{port}"

    def ready() -> bool:
        assert process.poll() is None, log.read_text()
        with suppress(OSError), urllib.request.urlopen(f"{url}/v1/models", timeout=5) as answer:  # noqa: S310 - our own
            return graph.model in answer.read().decode()
        return False

    try:
        until(ready, "a second frontend")
        yield url
    finally:
        process.kill()
        process.wait()


def test_two_frontends_agree_where_a_session_lives(graph: Graph, chat: Chat, tmp_path: Path) -> None:
    with second_frontend(graph, tmp_path / "frontend") as url, Chat.at(url, graph.model) as other:

        def acquainted() -> bool:
            for asked in (other, chat):
                asked.whole(user("Anyone there?"), max_tokens=1, extra_body=NO_THINKING)
            return all(state(at)["peers"]["frontends"] == 1 for at in (graph.url, url))

        # What is placed before one has found the other is not told.
        until(acquainted, "each frontend to hear of the other")

        attempts = count()

        def alternate(**named: str) -> tuple[bool, list[str]]:
            # So long that no other rank's being idler is worth computing it again.
            history = user(f"Two frontends, {next(attempts)}. {named} {SHARED * 10}")
            cached, ranks = [], []
            for turn in range(4):
                asked, at = ((other, url), (chat, graph.url))[turn % 2]
                answer = asked.whole(history, max_tokens=16, extra_body={**NO_THINKING, **named})
                # A rank is busy for a frontend until it hears that the other's request has ended.
                until(
                    lambda: not any(state(each)["peers"]["in_flight"] for each in (graph.url, url)), "word of the end"
                )
                assert answer.usage is not None
                assert answer.usage.prompt_tokens_details is not None
                cached.append(answer.usage.prompt_tokens_details.cached_tokens or 0)
                ranks += places(at, "prefill", 1)
                history += [{"role": "assistant", "content": answer.content}, *user("Go on. " * 60)]
            return 0 < cached[1] < cached[2] < cached[3], ranks

        def found_by_what_is_cached() -> bool:
            reused, ranks = alternate()
            return reused and len(set(ranks)) == 1

        # Each frontend has a name of its own for the session, and a block's event may come later than the answer.
        until(found_by_what_is_cached, "one rank for a session of both")
        # By what each is told of the other's bookings.
        reused, ranks = alternate(prompt_cache_key="two frontends")
        assert reused

        def known(at: str) -> tuple[str, ...]:
            latest = state(at)["sessions"]["latest"][0]
            return tuple(latest[name] for name in ("session", "prefill", "decode", "tokens"))

        until(lambda: known(graph.url) == known(url), "both know the same of it")
        assert {known(url)[1]} == set(ranks)
    until(lambda: state(graph.url)["peers"] == {"frontends": 0, "in_flight": 0}, "a frontend that is gone")


def test_sessions_keep_off_a_rank_that_others_keep_busy(graph: Graph, chat: Chat, tmp_path: Path) -> None:
    books = state(graph.url)["prefill"]
    idlest = min(books, key=lambda rank: books[rank]["work_ms"])
    worker, rank = (int(part) for part in idlest.split(":"))
    pinned = {**NO_THINKING, "nvext": {"prefill_worker_id": worker, "prefill_dp_rank": rank}}
    plain = second_frontend(graph, tmp_path / "frontend", "--router-policy", "plain")
    with plain as url, Chat.at(url, graph.model) as bypass:
        for number in range(24):
            bypass.whole(
                user(f"Bypass {number}. " + f"{number} words of another client. " * 1_500),
                max_tokens=8,
                extra_body=pinned,
            )
        until(lambda: state(graph.url)["prefill"][idlest]["others"]["work_ms"] > 0, "what others computed")
    after = state(graph.url)["prefill"]
    for number in range(8):
        list(turns(chat, f"Keep off {number}. {SHARED}", 1))

    assert idlest not in places(graph.url, "prefill", 8)
    assert after[idlest]["others"]["work_ms"] > max(book["work_ms"] for book in after.values()) / 2
    # What another frontend placed before it was heard, in a test before this one, only fades.
    elsewhere = [rank for rank in after if rank != idlest]
    assert all(after[rank]["others"]["work_ms"] <= books[rank]["others"]["work_ms"] for rank in elsewhere)
    assert graph.metric("dynamo_glm_router_rank_others_work_seconds") > 0
