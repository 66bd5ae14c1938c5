"""The router's metrics on Dynamo's own `/metrics`, after real answers over HTTP."""

from prometheus_client.parser import text_string_to_metric_families

from components.frontend.router_metrics import PREFIX

from .conftest import Endpoint


def sampled(endpoint: Endpoint) -> dict[tuple[str, ...], float]:
    """Every sample of ours, by its short name and its labels, but for the model's and buckets."""
    found = {}
    for family in text_string_to_metric_families(endpoint.metrics()):
        for sample in family.samples:
            if sample.name.startswith(PREFIX) and "le" not in sample.labels:
                assert sample.labels.pop("model") == "glm"
                labels = (value for _, value in sorted(sample.labels.items()))
                found[(sample.name.removeprefix(f"{PREFIX}_"), *labels)] = sample.value
    return found


def test_decisions_are_counted_by_side_and_reason_and_sessions_by_their_rung(endpoint: Endpoint) -> None:
    before = sampled(endpoint)
    for named in ({"prompt_cache_key": "metrics"}, {"prompt_cache_key": "metrics"}, {}):
        endpoint.say("hello " * 300, None, **named)
    after = sampled(endpoint)

    def grown(*name: str) -> float:
        return after[name] - before.get(name, 0)

    assert (grown("decisions_total", "new", "prefill"), grown("decisions_total", "home", "prefill")) == (2, 1)
    assert (grown("identities_total", "prompt_cache_key"), grown("decision_seconds_count")) == (2, 3)
    assert grown("first_token_seconds_count") == grown("expected_first_token_seconds_count") == 3
    assert grown("prompt_tokens_total", "none") + grown("prompt_tokens_total", "device") > 3 * 300
    assert grown("first_token_seconds_sum") > 0


def test_what_has_not_happened_yet_is_exported_at_zero(endpoint: Endpoint) -> None:
    found = sampled(endpoint)

    for name in (("placed_again_total", "served"), ("placed_again_total", "failed"), ("exclusions_total", "named")):
        assert found[name] == 0


def test_the_books_are_gauges(endpoint: Endpoint) -> None:
    endpoint.say("hello")
    (name,) = endpoint.router_state()["prefill"]
    worker, rank = name.split(":")

    found = sampled(endpoint)

    assert found["rank_waiting_tokens", rank, worker] == 0
    assert found["rank_work_seconds", rank, worker] > 0
    assert found["rank_resident_tokens", rank, worker] > 0
    assert (found["rank_others_requests", rank, worker], found["rank_others_work_seconds", rank, worker]) == (0, 0)
    assert found["peers_in_flight",] == 0
    assert (found["rank_imbalance",], found["workers_excluded",]) == (1, 0)
    assert found["sessions",] >= 1
    assert (found["price", "prefill_token_us"] > 0, found["price", "decode_step_ms"] > 0) == (True, True)
