"""Reading the index's answer, in the form of ai-dynamo 1.6.1."""

from typing import Any

from components.frontend.overlaps import read_scores
from router import Overlap, Rank


def row(dp_rank: int, device: int, host: int = 0, disk: int = 0) -> dict[str, Any]:
    """A row as Dynamo gives it: its tiers are cumulative."""
    return {
        "worker_id": 7,
        "dp_rank": dp_rank,
        "device_blocks": device,
        "host_pinned_blocks": device + host,
        "disk_blocks": device + host + disk,
        "host_pinned_extension_blocks": host,
        "disk_extension_blocks": disk,
        "shared_beyond_device_blocks": None,
    }


def test_blocks_become_tokens_and_no_tier_is_counted_twice() -> None:
    scores = {"block_size": 64, "num_blocks": 9, "workers": [row(0, 4), row(1, 2, host=3, disk=1), row(2, 0)]}

    assert read_scores(scores) == {Rank(7, 0): Overlap(256), Rank(7, 1): Overlap(128, 256)}
