"""A request's phases: read from engines, told on request, and exported."""

from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from components.frontend.phase_metrics import NAME
from components.frontend.timeline import PHASES, Timeline

from .conftest import Endpoint

STAGES = {
    "prefill": {"fetch_ms": 4.0, "admission_ms": 110.0, "compute_ms": 700.0},
    "decode": {"fetch_ms": 80.0, "admission_ms": 2.0, "compute_ms": 9.5},
}
SAID = {"engine_data": {"kv_transfer_params": {"timeline": STAGES}}}
ASKED = {"nvext": {"extra_fields": ["timing"]}}


def counts(endpoint: Endpoint) -> dict[tuple[str, str], float]:
    families = text_string_to_metric_families(endpoint.metrics())
    (family,) = [family for family in families if family.name == NAME]
    return {
        (sample.labels["stage"], sample.labels["phase"]): sample.value
        for sample in family.samples
        if sample.name == f"{NAME}_count"
    }


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_asks_is_told_where_the_time_went(endpoint: Endpoint, *, stream: bool) -> None:
    if stream:
        timing = endpoint.chunks("hello", SAID, **ASKED)[-1]["nvext"]["timing"]
    else:
        timing = endpoint.say("hello", SAID, **ASKED).json()["nvext"]["timing"]

    assert {stage: timing[stage] for stage in STAGES} == STAGES
    assert set(timing["frontend"]) == {"prepare_ms", "placement_ms", "elsewhere_ms"}
    assert 0 < timing["frontend"]["prepare_ms"] < timing["ttft_ms"] <= timing["total_time_ms"]
    assert timing["request_received_ms"] > 1.7e12


def test_others_are_told_nothing(endpoint: Endpoint) -> None:
    assert "nvext" not in endpoint.say("hello", SAID).json()


def test_every_phase_of_every_answer_is_observed(endpoint: Endpoint) -> None:
    before = counts(endpoint)
    assert set(before) == {(stage, phase) for stage, phases in PHASES.items() for phase in phases}

    endpoint.say("hello", SAID)
    assert {phase: count - before[phase] for phase, count in counts(endpoint).items()} == dict.fromkeys(before, 1)

    endpoint.say("hello")
    grown = {phase for phase, count in counts(endpoint).items() if count - before[phase] == 2}
    assert grown == {("frontend", "prepare"), ("frontend", "placement")}


@pytest.mark.parametrize("said", [17, {"decode": "soon"}, {"decode": {"fetch_ms": "soon"}}])
def test_a_timeline_that_cannot_be_read_is_left_out(said: Any, caplog: pytest.LogCaptureFixture) -> None:
    timeline = Timeline()
    timeline.read({"engine_data": {"kv_transfer_params": {"timeline": said}}})

    assert timeline.phases() == []
    assert "left out" in caplog.text


@pytest.mark.parametrize("output", [{}, {"engine_data": None}, {"engine_data": {"kv_transfer_params": None}}])
def test_engines_that_tell_nothing_are_no_error(output: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    Timeline().read(output)

    assert not caplog.text


def test_what_nobody_accounts_for_is_the_rest_until_the_first_token() -> None:
    timeline = Timeline()
    timeline.prepared()
    timeline.placed(0.0)
    timeline.first_token()
    timeline.read({"engine_data": {"kv_transfer_params": {"timeline": {"decode": {"compute_ms": 1e-4}}}}})

    assert sum(took for _, _, took in timeline.phases()) == pytest.approx(timeline.timing()["ttft_ms"], abs=1e-3)
