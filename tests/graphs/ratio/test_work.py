from itertools import pairwise

import pytest

from graphs.memory.shapes import KNOWN
from graphs.ratio.work import accepted, context_operations, drafts, step_bytes, token_operations
from tests.graphs.ratio.engines import DECODE, PREFILL, side


def test_operations_by_hand() -> None:
    # 39.3 B parameters are used, and 64 heads score and sum 2,048 rows of 576 and 512 values in 78 layers.
    assert token_operations(KNOWN["GLM-5.3"]) == pytest.approx(2 * 39.3e9 + 2 * 64 * 1_088 * 2_048 * 78, rel=0.002)
    assert context_operations(KNOWN["GLM-5.3"]) == 21 * 2 * 32 * 128
    assert context_operations(KNOWN["GLM-5"]) == 78 * 2 * 32 * 128


def test_a_step_of_one_request_reads_the_experts_of_its_four_tokens_and_all_else_once() -> None:
    engine, ladder = side(DECODE)
    weights = {part.name: part.all_bytes for part in engine.parts}
    four = 1 - (248 / 256) ** 4
    cut = weights["shared experts"] + weights["dense layers"] + weights["attention, heads"]
    whole = weights["attention, low rank"] + weights["indexers"] + weights["gates and norms"]
    mtp = (four * weights["MTP, routed experts"] + weights["MTP, heads and shared expert"]) / 4 + weights[
        "MTP, the rest"
    ]
    expected = (four * weights["routed experts"] + cut + weights["embeddings and head"] / 2) / 4 + whole + 3 * mtp
    kv = 4 * 2_048 * 352 * 79 + 140_000 * 132 * 22
    assert step_bytes(engine, ladder, 1, 140_000) == pytest.approx(expected + kv, rel=1e-6)


def test_a_larger_batch_reads_more_by_less_and_less() -> None:
    read = [step_bytes(*side(DECODE), requests, 140_000) for requests in (1, 2, 3, 4)]
    more = [later - earlier for earlier, later in pairwise(read)]
    assert more == sorted(more, reverse=True)
    assert more[-1] > 0


def test_attention_ranks_read_their_own_requests_and_their_share_of_all_experts() -> None:
    spread = side({**PREFILL, "max-num-seqs": 16})
    alone, eight = (step_bytes(*spread, requests, 140_000) for requests in (8, 16))
    kv = 4 * 2_048 * 352 * 79 + 140_000 * 132 * 22
    # Each rank has one request more; the experts' part grows as well.
    assert eight - alone > kv


def test_pipeline_stages_read_one_after_another() -> None:
    one, two = (step_bytes(*side({**DECODE, "pipeline-parallel-size": stages}), 1, 140_000) for stages in (1, 2))
    assert one == pytest.approx(two)


def test_drafts_that_are_right_are_tokens() -> None:
    engine, _ = side(DECODE)
    assert (drafts(engine), accepted(engine, 0.5)) == (3, 1.875)
    none, _ = side({**DECODE, "speculative-config": None})
    assert (drafts(none), accepted(none, 0.5)) == (0, 1)
