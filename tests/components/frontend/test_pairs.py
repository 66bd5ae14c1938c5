"""Pairs of tokens that stand for blocks, as Dynamo hashes both."""

import logging

import numpy as np
import pytest
from dynamo._core import compute_block_hash_for_seq

from components.frontend import pairs
from components.frontend.pairs import PAIR, pairs_of, possible

PROMPT = np.random.default_rng(1).integers(0, 2**18, 3_000, dtype=np.uint32)


@pytest.mark.parametrize("block_size", [1, 16, 63, 64, 72, 128, 512])
def test_a_pair_hashes_like_its_block(block_size: int) -> None:
    theirs = compute_block_hash_for_seq(PROMPT.tolist(), block_size)

    assert compute_block_hash_for_seq(pairs_of(PROMPT, block_size), PAIR) == theirs


def test_what_fills_no_block_has_no_pair() -> None:
    assert pairs_of(PROMPT[:63], 64) == []
    assert pairs_of(PROMPT[: 64 * 5 + 63], 64) == pairs_of(PROMPT[: 64 * 5], 64)


@pytest.mark.parametrize("block_size", [16, 32, 63, 64, 256, 512])
def test_pairs_are_there_for_blocks_of_any_size(block_size: int) -> None:
    assert possible(block_size)


def test_a_dynamo_that_hashes_otherwise_is_noticed_and_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pairs, "_SEED", 1338)

    with caplog.at_level(logging.WARNING):
        assert not possible(64)
    assert "hashes blocks in another way" in caplog.text
