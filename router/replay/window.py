"""What a replay measures between two moments of it: of a load that does not end by itself."""

from collections.abc import Iterable, Sequence

import msgspec

from router.replay.measures import Served, percentiles


class Window(msgspec.Struct, frozen=True):
    """Figures of the requests that finished within the window.

    Attributes:
        requests: How many.
        in_flight: Requests under way at a moment, on average: from the client's request to its last token.
        decoding: Those of them that get tokens, on average; the others wait, are computed or moved.
        user_tokens_per_s: Tokens of an answer over the time from request to last token: the median over requests.
        mean_user_tokens_per_s: The same of all requests together, so that long answers count by their length.
        gpu_tokens_per_s: Tokens of answers a second and GPU, over all GPUs that serve.
        wait_ms: Median and 90th percentile of the wait for the first prefill step.
        mean_wait_ms: Its mean.
        ttft_ms: Median and 90th percentile of the time to first token.
        itl_ms: Mean time between two tokens of an answer: median and 90th percentile over requests.
        reuse_ratio: Prompt tokens found cached, in device or host memory, over prompt tokens.
        answer_tokens: Mean length of an answer.
    """

    requests: int
    in_flight: float
    decoding: float
    user_tokens_per_s: float
    mean_user_tokens_per_s: float
    gpu_tokens_per_s: float
    wait_ms: tuple[float, float]
    mean_wait_ms: float
    ttft_ms: tuple[float, float]
    itl_ms: tuple[float, float]
    reuse_ratio: float
    answer_tokens: float


def window(served: Iterable[Served], unfinished: Iterable[Served], begin_ms: float, end_ms: float, gpus: int) -> Window:
    """Measure what happened between two moments.

    Args:
        served: Requests that are finished.
        unfinished: Those under way at the end.
        begin_ms: The one moment.
        end_ms: The other, at or before the replay's own end.
        gpus: GPUs that serve.
    """
    served = list(served)
    every = [*served, *unfinished]
    done = [each for each in served if begin_ms < each.finished_ms <= end_ms]
    length_ms = end_ms - begin_ms
    answers = sum(each.answer_tokens for each in done)
    times = [each.finished_ms - each.arrival_ms for each in done]
    waits = [each.started_ms - each.arrival_ms for each in done]
    itl = [(each.finished_ms - each.first_token_ms) / max(1, each.answer_tokens - 1) for each in done]
    return Window(
        requests=len(done),
        in_flight=sum(_within(each.arrival_ms, each, begin_ms, end_ms) for each in every) / length_ms,
        decoding=sum(_within(each.first_token_ms, each, begin_ms, end_ms) for each in every if each.first_token_ms)
        / length_ms,
        user_tokens_per_s=_median([each.answer_tokens / time * 1e3 for each, time in zip(done, times, strict=True)]),
        mean_user_tokens_per_s=answers / max(1e-9, sum(times)) * 1e3,
        gpu_tokens_per_s=answers / length_ms * 1e3 / gpus,
        wait_ms=percentiles(waits),
        mean_wait_ms=sum(waits) / max(1, len(waits)),
        ttft_ms=percentiles([each.first_token_ms - each.arrival_ms for each in done]),
        itl_ms=percentiles(itl),
        reuse_ratio=sum(each.device_tokens + each.host_tokens for each in done)
        / max(1, sum(each.prompt_tokens for each in done)),
        answer_tokens=answers / max(1, len(done)),
    )


def _median(values: Sequence[float]) -> float:
    return percentiles(values)[0]


def _within(since_ms: float, served: Served, begin_ms: float, end_ms: float) -> float:
    """The part of the window in which a request was under way since then."""
    until_ms = served.finished_ms or end_ms
    return max(0.0, min(until_ms, end_ms) - max(since_ms, begin_ms))
