import pytest

from benchmarks.frontend.load import PhaseResult, Timed
from benchmarks.frontend.measure import figures_of, percentile
from benchmarks.frontend.processes import BenchmarkError
from benchmarks.frontend.sse import Answer


def timed(ttft_ms: float = 1.0, prompt: int = 1000, completion: int = 10, calls: int = 0) -> Timed:
    answer = Answer(prompt_tokens=prompt, completion_tokens=completion, calls=calls, chunks=4)
    return Timed(ttft_ms, answer)


def test_turns_alternate_in_the_times_to_first_token() -> None:
    requests = [timed(10), timed(1, prompt=7000), timed(20), timed(3, prompt=7000)]
    assert figures_of(PhaseResult("ttft/1K", 1, 1, requests)) == {
        "ttft-p50/1K/first": 15,
        "ttft-p90/1K/first": 19,
        "ttft-p50/1K/second": 2,
        "ttft-p90/1K/second": pytest.approx(2.8),
    }


def test_a_prompt_of_the_wrong_length_is_an_error() -> None:
    with pytest.raises(BenchmarkError, match="prompts of 1K tokens had 1200"):
        figures_of(PhaseResult("ttft/1K", 1, 1, [timed(prompt=1200), timed()]))


def test_requests_a_second_and_cpu_a_request() -> None:
    figures = figures_of(PhaseResult("prompts/32K/first", 2.0, 0.5, [timed()] * 4))
    assert figures == {"rps/32K/first": 2, "cpu-ms/32K/first": 125}


def test_tokens_a_second_and_per_core() -> None:
    figures = figures_of(PhaseResult("streams/text-1", 2.0, 0.5, [timed(completion=50)] * 4))
    assert figures == {"tps/text-1": 100, "tps-core/text-1": 400, "chunks/text-1": 4, "tokens/text-1": 50}


def test_a_missing_call_is_an_error() -> None:
    with pytest.raises(BenchmarkError, match="1 calls arrived of 2"):
        figures_of(PhaseResult("streams/calls-8", 1, 1, [timed(calls=2), timed(calls=1)]))


def test_the_warm_up_has_no_figures() -> None:
    assert figures_of(PhaseResult("warm-up", 1, 1, [timed()])) == {}


def test_a_percentile_lies_between_its_neighbours() -> None:
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([1, 2], 0.9) == pytest.approx(1.9)
    assert percentile([5], 0.9) == 5
