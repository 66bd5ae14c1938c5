"""DEP8 to TP4 in miniature: latents of two prefill ranks in one process, pulled by both tensor ranks of a decoder."""

import asyncio
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.engines.asking import ask, ask_all, prompt_tokens
from tests.engines.ids import Ids
from tests.engines.miniature import BYTES, FAILED, TRANSFERS, Miniature
from tests.engines.prompts import CONVERSATIONS
from tests.engines.reference import TIE, Reference, reference
from tests.live.chat import Chat, user
from tests.live.serving import until

GRAPH = "mla"
RANKS = 2
TENSOR_RANKS = 2
BLOCK = 16
BLOCK_BYTES = BLOCK * 2 * (512 + 64) * 4
"""Tokens, layers, latent and rotated key, float32."""

FLAGS = ("--attention-backend", "CPU_MLA", "--compilation-config", '{"custom_ops": ["-rotary_embedding"]}')
"""As in `configs/cpu-mla.yaml`, where the reasons stand."""

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def expected(models: Path, shared: Path) -> Reference:
    """One engine with the same attention backend, before the graph starts."""
    env = {**os.environ, "VLLM_CACHE_ROOT": str(shared / "cache")}
    return reference(models / "tiny-mla", CONVERSATIONS, env, *FLAGS)


def test_latents_that_cross_from_two_ranks_to_two_give_one_engines_answers(
    expected: Reference, mla: Miniature, models: Path
) -> None:
    expected.assert_sound()
    ids = Ids(models / "tiny-mla")
    answers = asyncio.run(ask_all(mla, CONVERSATIONS))
    assert not expected.different([ids.of(answer) for answer in answers], tie=TIE)
    ranks = Counter(decision["prefill"]["chosen"].partition(":")[2] for decision in mla.state()["decisions"])
    assert set(ranks) == {"0", "1"}, ranks
    assert min(ranks.values()) >= len(CONVERSATIONS) // 5, ranks


def test_the_rank_that_the_router_names_computes_the_prompt(mla: Miniature, chat: Chat) -> None:
    (prefill,) = mla.engines("Prefill")
    for rank in (0, 1, 1, 0):
        before = [prefill.counter("vllm:prompt_tokens_total", engine=str(each)) for each in range(RANKS)]
        pin = {"nvext": {"prefill_dp_rank": rank}}
        answer = chat.whole(user(f"Rank {rank}. {'Go on. ' * 40}"), max_tokens=4, extra_body=pin)
        decision = mla.decision()["prefill"]
        assert (decision["chosen"].partition(":")[2], decision["reason"]) == (str(rank), "pinned")
        assert answer.usage is not None
        computed = [
            prefill.counter("vllm:prompt_tokens_total", engine=str(each)) - before[each] for each in range(RANKS)
        ]
        assert computed == [answer.usage.prompt_tokens if each == rank else 0 for each in range(RANKS)]


def test_each_tensor_rank_pulls_the_whole_latent(mla: Miniature, chat: Chat) -> None:
    (decoder,) = mla.engines("Decode")
    before = decoder.counter(BYTES), decoder.counter(TRANSFERS)
    answer = ask(chat, user(f"All of it. {'Go on. ' * 100}"))
    until(lambda: decoder.counter(TRANSFERS) - before[1] == TENSOR_RANKS, "a transfer of each rank")
    blocks = -(-prompt_tokens(answer) // BLOCK)
    assert decoder.counter(BYTES) - before[0] == TENSOR_RANKS * blocks * BLOCK_BYTES
    assert decoder.counter(FAILED) == 0
