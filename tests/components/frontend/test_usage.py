"""Counting the tokens of an answer."""

from components.frontend.usage import TokenCounter

THINK_END = 9


def counted(*outputs: list[int], think_end_id: int | None = None) -> TokenCounter:
    counter = TokenCounter(5, think_end_id)
    for token_ids in outputs:
        counter.count({"token_ids": token_ids})
    return counter


def test_reasoning_ends_with_its_end_token_and_includes_it() -> None:
    usage = counted([1, 2], [3, THINK_END, 4], [THINK_END, 5], think_end_id=THINK_END).usage()

    assert usage["completion_tokens_details"] == {"reasoning_tokens": 4}
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (5, 7, 12)


def test_without_reasoning_an_end_token_counts_for_nothing() -> None:
    assert counted([1, THINK_END]).usage()["completion_tokens_details"] == {"reasoning_tokens": 0}


def test_cached_tokens_are_kept_from_whichever_output_reports_them() -> None:
    counter = TokenCounter(5, None)
    assert counter.meter()["cached_tokens"] is None
    counter.count({"token_ids": [1], "completion_usage": {"prompt_tokens_details": {"cached_tokens": 4}}})
    counter.count({"token_ids": [], "completion_usage": {"prompt_tokens_details": None}})

    assert counter.usage()["prompt_tokens_details"] == {"cached_tokens": 4}
    assert counter.meter()["cached_tokens"] == 4


def test_metrics_count_every_token_once() -> None:
    counter = counted([1, 2, 3])
    first = counter.meter()
    counter.count({"token_ids": [4]})

    assert [first["chunk_tokens"], counter.meter()["chunk_tokens"], counter.meter()["chunk_tokens"]] == [3, 1, 0]
    assert counter.meter()["output_tokens"] == 4
