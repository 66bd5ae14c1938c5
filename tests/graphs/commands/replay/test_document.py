from typing import Any

import msgspec
import pytest

from graphs.commands.replay.ask import Ask
from graphs.commands.replay.document import as_text
from graphs.commands.replay.results import Results, Size
from router.costs import Costs
from router.replay.cluster import Cluster, Load
from router.replay.measures import measure
from router.replay.report import Run


def results(*sizes: Size, load: Load | None = None, **cluster: Any) -> Results:
    load = load or Load()
    ask = Ask(None, ("kv",), None, None, tuple(size.seed for size in sizes), (load,), None)
    nothing = measure([], [0], [0], busy_ms=0, stepped_ms=0, gpus=1, moves=0, decode_moves=0)
    spacing_s = None if load.arrivals == "recorded" else load.spacing_s
    runs = [Run("kv", spacing_s, size.seed, nothing, 0.0, (0,)) for size in sizes]
    return Results(ask, msgspec.structs.replace(Cluster(), **cluster), Costs(), list(sizes), runs)


def size(seed: int, sessions: int, tokens: int) -> Size:
    return Size(seed, "trace", 64, sessions, 999, tokens, 1_000_000_000)


def test_traces_of_several_seeds_are_told_by_their_range() -> None:
    line = next(as_text(results(size(3, 64, 123_456_789), size(4, 65, 9_870))))
    assert line == (
        "trace    made up, seeds 3 to 4: 64-65 sessions, 999 requests, 9.87K-123M prompt tokens, 1G output tokens"
    )


def test_the_cluster_is_told_with_its_host_tier() -> None:
    _, line, *_ = as_text(results(size(0, 1, 1), host_tokens=10_045_000, rank_gpus=2, prefill_engines=3))
    assert line == (
        "cluster  3 x DEP8TP2 prefill, 786K tokens of KV a rank, 10M in host memory; "
        "4 x 4 GPUs decode, 1.5M tokens each; 64 GPUs"
    )


@pytest.mark.parametrize(
    ("load", "says"),
    [
        (Load("spaced", 0.7), "a session arrives every 0.7 s"),
        (Load("poisson", 10.0, 30.0), "a session arrives on average every 10 s, waits of at most 30 s"),
        (Load("recorded"), "sessions arrive as recorded"),
    ],
)
def test_the_load_is_told_in_words(load: Load, says: str) -> None:
    assert list(as_text(results(size(0, 1, 1), load=load)))[3] == says
