"""What a replay measures."""

from collections.abc import Sequence

import msgspec


class Served(msgspec.Struct):
    """One request of a replay. Times are ms since the replay's start.

    Attributes:
        session: Its session's index.
        turn: Its number in the session, from 0.
        prompt_tokens: Length of the prompt.
        answer_tokens: Length of the answer.
        arrival_ms: When the client sent it.
        ideal_tokens: Prompt tokens that an endless cache would have had.
        pooled_tokens: Those that one LRU cache as large as all ranks' together would have had.
        device_tokens: Those found in the rank's memory.
        host_tokens: Those fetched from the host tier.
        started_ms: When its prefill was first scheduled.
        first_token_ms: When its first token reached the client.
        finished_ms: When its last one did.
        rank: Its prefill rank, counted over all engines from 0.
        reason: Why it went there.
    """

    session: int
    turn: int
    prompt_tokens: int
    answer_tokens: int
    arrival_ms: float
    ideal_tokens: int = 0
    pooled_tokens: int = 0
    device_tokens: int = 0
    host_tokens: int = 0
    started_ms: float = 0.0
    first_token_ms: float = 0.0
    finished_ms: float = 0.0
    rank: int = 0
    reason: str = ""


class Measures(msgspec.Struct, frozen=True):
    """The figures of one replay.

    Attributes:
        requests: Requests served.
        reuse_ratio: Prompt tokens found cached, in device or host memory, over prompt tokens.
        device_reuse_ratio: The same, of device memory alone.
        ideal_reuse_ratio: With an endless cache.
        pooled_reuse_ratio: With one LRU cache as large as all ranks' together.
        rank_load_max_over_mean: New tokens computed by the busiest rank over the mean rank's.
        lockstep_efficiency: Share of each step that the mean rank works.
        idle_ranks: Ranks that got no request.
        wait_ms: Median and 90th percentile of the wait for the first prefill step.
        ttft_ms: Median and 90th percentile of the time to first token.
        itl_ms: Mean time between two tokens of an answer: median and 90th percentile over requests.
        user_tokens_per_s: Tokens of an answer over the time from request to last token: the median over requests.
        gpu_tokens_per_s: Tokens of answers a second and GPU, over all GPUs that serve.
        moves: Times that a session changed its prefill rank.
        reasons: Decisions by reason.
        duration_s: Length of the replay.
    """

    requests: int
    reuse_ratio: float
    device_reuse_ratio: float
    ideal_reuse_ratio: float
    pooled_reuse_ratio: float
    rank_load_max_over_mean: float
    lockstep_efficiency: float
    idle_ranks: int
    wait_ms: tuple[float, float]
    ttft_ms: tuple[float, float]
    itl_ms: tuple[float, float]
    user_tokens_per_s: float
    gpu_tokens_per_s: float
    moves: int
    decode_moves: int
    reasons: dict[str, int]
    duration_s: float


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 90th percentile, (0, 0) of nothing."""
    if not values:
        return 0.0, 0.0
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(len(ordered) * 0.9))]


def measure(
    served: Sequence[Served],
    computed: Sequence[int],
    requests: Sequence[int],
    *,
    busy_ms: float,
    stepped_ms: float,
    gpus: int,
    moves: int,
    decode_moves: int,
) -> Measures:
    """Add a replay up.

    Args:
        served: Every request.
        computed: New tokens computed, by prefill rank.
        requests: Requests, by prefill rank.
        busy_ms: Sum over steps of the mean rank's work.
        stepped_ms: Sum of the steps' lengths.
        gpus: GPUs that serve.
        moves: Times that a session changed its prefill rank.
        decode_moves: Times that a session changed its decode engine.
    """
    prompt = max(1, sum(each.prompt_tokens for each in served))
    reasons: dict[str, int] = {}
    for each in served:
        reasons[each.reason] = reasons.get(each.reason, 0) + 1
    duration_s = max((each.finished_ms for each in served), default=0.0) / 1e3
    answers = sum(each.answer_tokens for each in served)
    rates = [each.answer_tokens / max(1e-9, each.finished_ms - each.arrival_ms) * 1e3 for each in served]
    itl = [(each.finished_ms - each.first_token_ms) / max(1, each.answer_tokens - 1) for each in served]
    return Measures(
        requests=len(served),
        reuse_ratio=sum(each.device_tokens + each.host_tokens for each in served) / prompt,
        device_reuse_ratio=sum(each.device_tokens for each in served) / prompt,
        ideal_reuse_ratio=sum(each.ideal_tokens for each in served) / prompt,
        pooled_reuse_ratio=sum(each.pooled_tokens for each in served) / prompt,
        rank_load_max_over_mean=max(computed) * len(computed) / max(1, sum(computed)),
        lockstep_efficiency=busy_ms / max(1e-9, stepped_ms),
        idle_ranks=sum(count == 0 for count in requests),
        wait_ms=percentiles([each.started_ms - each.arrival_ms for each in served]),
        ttft_ms=percentiles([each.first_token_ms - each.arrival_ms for each in served]),
        itl_ms=percentiles(itl),
        user_tokens_per_s=percentiles(rates)[0],
        gpu_tokens_per_s=answers / max(1e-9, duration_s) / gpus,
        moves=moves,
        decode_moves=decode_moves,
        reasons=reasons,
        duration_s=duration_s,
    )
