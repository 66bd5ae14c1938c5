"""What is read of a worker's card."""

import json

import msgspec

from components.frontend.discovery import Card, Runtime


def test_a_card_says_role_and_sizes() -> None:
    card = {
        "display_name": "glm",
        "worker_type": "prefill",
        "kv_cache_block_size": 64,
        "runtime_config": {"total_kv_blocks": 16384, "data_parallel_size": 8, "max_num_seqs": 256},
        "media_decoder": None,
    }

    assert msgspec.json.decode(json.dumps(card), type=Card) == Card("glm", "prefill", 64, Runtime(16384, 8))


def test_a_worker_may_have_the_later_ranks_of_its_engine() -> None:
    card = b'{"runtime_config": {"data_parallel_size": 4, "data_parallel_start_rank": 4}}'

    assert msgspec.json.decode(card, type=Card).runtime_config == Runtime(None, 4, 4)


def test_a_worker_may_leave_its_memory_open() -> None:
    card = b'{"display_name": "glm", "worker_type": "aggregated", "runtime_config": {"total_kv_blocks": null}}'

    assert msgspec.json.decode(card, type=Card).runtime_config == Runtime(None, 1)
