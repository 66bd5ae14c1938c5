"""Phases of a request in one engine, and how they travel from prefill's engine to decode's."""

import time

import pytest

from components.engine.moments import TIMELINE, Moments, monotonic


def test_a_moment_of_the_wall_clock_is_as_long_ago_on_the_monotonic_one() -> None:
    assert time.monotonic() - monotonic(time.time() - 2.0) == pytest.approx(2.0, abs=0.5)


def test_a_moment_that_has_not_come_is_now() -> None:
    before = time.monotonic()
    assert before <= monotonic(time.time() + 60.0) <= time.monotonic()


@pytest.mark.parametrize(
    ("moments", "phases"),
    [
        (Moments(None, 10.0), {}),
        (Moments(None, 10.0, admitted=10.25, first_token=11.0), {"admission_ms": 250.0, "compute_ms": 750.0}),
        (
            Moments(None, 10.0, fetched=10.5, admitted=10.75, first_token=11.75),
            {"fetch_ms": 500.0, "admission_ms": 250.0, "compute_ms": 1000.0},
        ),
        (Moments(None, 10.0, fetched=10.5), {"fetch_ms": 500.0}),
    ],
)
def test_phases_follow_each_other_and_only_those_that_ended_are_there(
    moments: Moments, phases: dict[str, float]
) -> None:
    assert moments.phases() == phases


def test_prefill_adds_its_phases_to_what_its_connector_hands_over() -> None:
    moments = Moments({"do_remote_decode": True}, 0.0, admitted=1.0, first_token=3.0)
    handed = {"do_remote_prefill": True, "remote_block_ids": [[4, 5]]}

    assert moments.stamp(handed) == {**handed, TIMELINE: {"prefill": {"admission_ms": 1000.0, "compute_ms": 2000.0}}}


@pytest.mark.parametrize("nothing", [None, {}])
def test_prefill_that_hands_nothing_over_says_nothing(nothing: dict[str, object] | None) -> None:
    assert Moments({"do_remote_decode": True}, 0.0, admitted=1.0).stamp(nothing) == nothing


def test_decode_tells_both_stages() -> None:
    prefill = {"admission_ms": 1.0, "compute_ms": 2.0}
    asked = {"do_remote_prefill": True, TIMELINE: {"prefill": prefill}}
    moments = Moments(asked, 0.0, fetched=0.5, admitted=1.0, first_token=1.5)

    decode = {"fetch_ms": 500.0, "admission_ms": 500.0, "compute_ms": 500.0}
    assert moments.stamp(None) == {TIMELINE: {"prefill": prefill, "decode": decode}}


def test_an_engine_without_another_stage_tells_its_own() -> None:
    moments = Moments(None, 0.0, admitted=1.0, first_token=1.5)

    assert moments.stamp(None) == {TIMELINE: {"decode": {"admission_ms": 1000.0, "compute_ms": 500.0}}}
