"""Dynamo's own offline replay, and the timing of its mocked engines as prices for ours."""

import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.replay.figures import Figures
from benchmarks.replay.loads import mooncake_rows
from router.costs import Costs
from router.replay.cluster import Cluster
from router.replay.trace import Trace

_SPEEDUP = 8.0
"""Of the prefill engine. It decides how much work overlaps, and so the outcome, not the clock alone."""
_BUDGET_TOKENS = 16_384
_PREFILL_SLOTS, _DECODE_SLOTS = 64, 256
_DECODE_BLOCKS = 65_536
_MODES = {"round-robin": "round_robin", "kv": "kv_router"}

# Polynomials of ai-dynamo 1.6.1's mocker (`polynomial_prefill_time` and `polynomial_decode_time` of aisimulate-core
# 0.13.0), ms: of a rank's new tokens in a step, and of the share of its memory that running requests hold.
_PREFILL = (4.209989e-07, 1.518344e-02, 1.650142e01)
_DECODE = (-25.74, 54.01, 5.74)


class MockerCosts(Costs, frozen=True):
    """What the mocker's engines take.

    Attributes:
        request_tokens: What a running request holds of a decode engine's memory; here the mean of the load, there each
            request's own.
        decode_tokens: Tokens that a decode engine's memory holds.
    """

    request_tokens: float = 0.0
    decode_tokens: int = 1

    def prefill_ms(self, new_tokens: int, prompt_tokens: int) -> float:  # noqa: ARG002 - context costs nothing there.
        """Compute of new tokens, whatever lies before them."""
        square, linear, _ = _PREFILL
        return (square * new_tokens + linear) * new_tokens / _SPEEDUP

    def move_ms(self, tokens: int) -> float:  # noqa: ARG002 - as above.
        """Nothing: KV is where it is needed at once."""
        return 0.0

    def decode_ms(self, requests: int) -> float:
        """One step of that many requests."""
        square, linear, least = _DECODE
        share = min(1.0, requests * self.request_tokens / self.decode_tokens)
        return (square * share + linear) * share + least


def costs(load: Trace) -> MockerCosts:
    """Return the mocker's timing for a load."""
    lengths = [turn.input_tokens + turn.output_tokens / 2 for session in load.sessions for turn in session.turns]
    return MockerCosts(
        step_ms=_PREFILL[2] / _SPEEDUP,
        budget_tokens=_BUDGET_TOKENS,
        request_tokens=sum(lengths) / len(lengths),
        decode_tokens=_DECODE_BLOCKS * load.block_size,
    )


def cluster(rank_kv_tokens: int, block_size: int) -> Cluster:
    """Return the graph that both replays model: one DEP8 prefill engine and four decode engines."""
    return Cluster(
        rank_kv_tokens=rank_kv_tokens, decode_kv_tokens=_DECODE_BLOCKS * block_size, decode_slots=_DECODE_SLOTS
    )


def replay(load: Trace, graph: Cluster, policy: str) -> Figures:
    """Run a load through Dynamo's replay once; its ties are random, and it takes no seed.

    Args:
        load: The sessions.
        graph: The graph.
        policy: `round-robin` or `kv`.
    """
    # Read at the first import, which takes a second; else there is a line a decision.
    os.environ.setdefault("DYN_LOG", "error")
    from dynamo.llm import KvRouterConfig  # noqa: PLC0415
    from dynamo.replay import run_trace_replay  # noqa: PLC0415

    block = load.block_size
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "load.jsonl"
        path.write_bytes(b"".join(mooncake_rows(load)))
        report = run_trace_replay(
            str(path),
            prefill_engine_args=_prefill_engine(graph, block),
            decode_engine_args=_decode_engine(graph, block),
            num_prefill_workers=graph.prefill_engines,
            num_decode_workers=graph.decode_engines,
            router_mode=_MODES[policy],
            router_config=KvRouterConfig() if policy == "kv" else None,
            trace_format="mooncake",
            trace_block_size=block,
            capture_per_request=True,
        )
    return _figures(report.per_request, graph)


def _prefill_engine(graph: Cluster, block: int) -> dict[str, Any]:
    engine = {
        "worker_type": "prefill",
        "num_gpu_blocks": graph.rank_kv_tokens // block,
        "max_num_seqs": _PREFILL_SLOTS,
        "max_num_batched_tokens": _BUDGET_TOKENS,
        "speedup_ratio": _SPEEDUP,
    }
    return {"dp_size": graph.prefill_ranks, "engine": {"backend": "vllm", "block_size": block, **engine}}


def _decode_engine(graph: Cluster, block: int) -> dict[str, Any]:
    engine = {
        "worker_type": "decode",
        "num_gpu_blocks": graph.decode_kv_tokens // block,
        "max_num_seqs": graph.decode_slots,
        "speedup_ratio": 1.0,
    }
    return {"dp_size": 1, "engine": {"backend": "vllm", "block_size": block, **engine}}


def _figures(requests: list[Mapping[str, Any]], graph: Cluster) -> Figures:
    computed: Counter[int] = Counter()
    prompt = reused = 0
    for request in requests:
        if request["terminal_status"] != "completed":
            raise RuntimeError(f"Dynamo's replay ended a request as {request['terminal_status']}")
        rank = next(hop["dp_rank"] for hop in request["routing_history"] if hop["pool"] == "prefill")
        computed[rank] += request["input_length"] - request["reused_input_tokens"]
        prompt += request["input_length"]
        reused += request["reused_input_tokens"]
    ranks = graph.prefill_engines * graph.prefill_ranks
    return Figures(reused / prompt, max(computed.values()) * ranks / sum(computed.values()))
