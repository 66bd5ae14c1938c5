"""Four real engines on a dense model: the answers are one engine's, and a second turn moves only what is new."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engines.asking import ask, ask_all, cached_tokens, prompt_tokens, said
from tests.engines.ids import Ids
from tests.engines.miniature import BYTES, FAILED, TRANSFERS, Miniature
from tests.engines.prompts import CONVERSATIONS
from tests.engines.reference import Reference, reference
from tests.live.chat import Answer, Chat, user
from tests.live.serving import until

GRAPH = "dense"
BLOCK = 32
BLOCK_BYTES = BLOCK * 2 * 2 * 2 * 64 * 4
"""Tokens, layers, keys and values, KV heads, head size, float32."""

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def expected(models: Path, shared: Path) -> Reference:
    """Before the graph starts, since both together are more than the machine holds."""
    env = {**os.environ, "VLLM_CACHE_ROOT": str(shared / "cache")}
    return reference(models / "tiny-dense", CONVERSATIONS, env)


def test_four_engines_answer_as_one_does(expected: Reference, dense: Miniature, models: Path) -> None:
    expected.assert_sound()
    ids = Ids(models / "tiny-dense")
    cold = asyncio.run(ask_all(dense, CONVERSATIONS))
    assert not expected.different([ids.of(answer) for answer in cold])
    warm = asyncio.run(ask_all(dense, CONVERSATIONS))
    assert not expected.different([ids.of(answer) for answer in warm])
    # The second time all whole blocks of a prompt are there, but for the one that its last token is in.
    assert all(cached_tokens(answer) >= whole_blocks(answer) for answer in warm)
    decisions = dense.state()["decisions"]
    for side in ("prefill", "decode"):
        assert len({decision[side]["chosen"] for decision in decisions}) == 2, f"one {side} engine did all the work"


def whole_blocks(answer: Answer) -> int:
    """Tokens of the prompt that a second request for it finds: the last token is always computed anew."""
    return (prompt_tokens(answer) - 1) // BLOCK * BLOCK


@pytest.mark.parametrize("number", range(4))
def test_a_second_turn_reuses_the_prefix_where_it_is(dense: Miniature, chat: Chat, number: int) -> None:
    history = user(f"Session {number}. {'Look at it again. ' * 60}")
    first = ask(chat, history)
    home = dense.decision()["prefill"]["chosen"]
    engine = dense.engine_of(home)
    hits = engine.counter("vllm:prefix_cache_hits_total")
    second = ask(chat, [*history, said(first), *user("Go on. " * 20)])
    decision = dense.decision()
    assert (decision["prefill"]["chosen"], decision["prefill"]["reason"]) == (home, "home")
    assert cached_tokens(second) >= whole_blocks(first) > 0
    # What the events said beforehand, and what the engine counted.
    assert decision["cached_tokens"]["device"] == cached_tokens(second)
    until(lambda: engine.counter("vllm:prefix_cache_hits_total") - hits == cached_tokens(second), "the same hits")


def test_both_engines_tell_where_a_requests_time_went(chat: Chat) -> None:
    timing = ask(chat, user(f"How long? {'Look at it again. ' * 100}"), nvext={"extra_fields": ["timing"]}).timing
    # Nothing was fetched for prefill, and decode fetched the prompt.
    assert set(timing["prefill"]) == {"admission_ms", "compute_ms"}
    assert set(timing["decode"]) == {"fetch_ms", "admission_ms", "compute_ms"}
    phases = [took for stage in ("frontend", "prefill", "decode") for took in timing[stage].values()]
    assert min(phases) >= 0
    assert sum(phases) == pytest.approx(timing["ttft_ms"], abs=1)
    # A prompt of several steps takes longer than one token.
    assert timing["prefill"]["compute_ms"] > timing["decode"]["compute_ms"]


@dataclass(frozen=True)
class Moved:
    """What one decoder pulled for one request, by its own counters.

    Attributes:
        bytes: Bytes that NIXL moved.
        prompt_tokens: Of the request.
    """

    bytes: float
    prompt_tokens: int

    @property
    def blocks(self) -> float:
        return self.bytes / BLOCK_BYTES


def second_turn(chat: Chat, graph: Miniature, number: int, *, elsewhere: bool) -> Moved:
    """Have two turns, the second one where the router wants it or pinned to the other decoder; what moved for it."""
    history = user(f"{number} is the session. {'Look at it again. ' * 150}")
    first = ask(chat, history)
    home = graph.decision()["decode"]["chosen"].partition(":")[0]
    (other,) = {each["worker"] for each in graph.state()["fleet"]["decode"]} - {home}
    wanted = other if elsewhere else home
    decoder = graph.engine_of(wanted)
    before = decoder.counter(BYTES), decoder.counter(TRANSFERS)
    pin = {"nvext": {"decode_worker_id": int(other)}} if elsewhere else {}
    second = ask(chat, [*history, said(first), *user("Go on. " * 20)], **pin)
    assert graph.decision()["decode"]["chosen"].partition(":")[0] == wanted
    until(lambda: decoder.counter(TRANSFERS) > before[1], "a transfer counted")
    assert decoder.counter(TRANSFERS) - before[1] == 1
    assert decoder.counter(FAILED) == 0
    return Moved(decoder.counter(BYTES) - before[0], prompt_tokens(second))


def test_a_second_turn_moves_little_to_the_decoder_that_had_the_first(
    dense: Miniature, chat: Chat, capsys: pytest.CaptureFixture[str]
) -> None:
    same = second_turn(chat, dense, 7, elsewhere=False)
    other = second_turn(chat, dense, 8, elsewhere=True)

    with capsys.disabled():
        for where, moved in (("the same decoder", same), ("the other one", other)):
            text = f"{moved.blocks:.0f} blocks, {moved.bytes:.0f} bytes, prompt of {moved.prompt_tokens} tokens"
            print(f"\nturn two on {where}: {text}", end="")  # noqa: T201 - the figures are what is asked for
    # The other decoder has nothing, and this one all blocks of the first turn and of its answer that are whole.
    assert other.blocks == -(-other.prompt_tokens // BLOCK)
    assert 0 < same.blocks <= other.blocks / 4
