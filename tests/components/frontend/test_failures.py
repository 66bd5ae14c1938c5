"""What Dynamo's errors say, in the words that ai-dynamo 1.6.1 uses."""

import pytest
from dynamo.llm.exceptions import Cancelled, HttpError, InvalidArgument, WorkerUnavailable

from components.frontend.failures import accused, for_client, may_succeed_elsewhere
from components.frontend.outputs import EngineFailedError

SUSPECTS = {11: "10.0.0.1:4001", 12: "10.0.0.2:4001"}
REFUSED = Exception("Unavailable: TCP connection to 10.0.0.2:4001 failed")
GONE = Exception("InvalidRequest: nvext.decode_worker_id=12 does not identify a known worker")
NONE_LEFT = Exception("no endpoints available to route work")
BROKEN = ValueError("Unavailable: Stream ended before generation completed")
DEAD = ValueError("Internal: EngineDeadError: EngineCore encountered an issue. See stack trace (above).")
DEAD_PREFILL = Exception(f"Prefill execution failed: Prefill router returned error in output: {DEAD}")


@pytest.mark.parametrize(
    "error",
    [REFUSED, GONE, NONE_LEFT, BROKEN, DEAD, DEAD_PREFILL, EngineFailedError("broke"), ValueError("Internal: x")],
)
def test_what_a_worker_got_wrong_may_succeed_elsewhere(error: Exception) -> None:
    assert may_succeed_elsewhere(error)


@pytest.mark.parametrize(
    "error",
    [
        InvalidArgument("the prompt has 300000 tokens"),
        WorkerUnavailable("not yet"),
        Cancelled("x"),
        ValueError("Cancelled: x"),
        ValueError("InvalidArgument: x"),
    ],
)
def test_what_the_client_got_wrong_fails_everywhere(error: Exception) -> None:
    assert not may_succeed_elsewhere(error)


@pytest.mark.parametrize(
    ("error", "guilty"),
    [
        (REFUSED, {12}),
        (GONE, {12}),
        (Exception("instance_id=11 not found for endpoint dynamo/backend/generate"), {11}),
        (Exception("instance_id=112 not found for endpoint dynamo/backend/generate"), set()),
        (Exception("Unavailable: TCP connection to 10.0.0.2:40011 failed"), set()),
        (Exception("Unavailable: Server unavailable: unknown endpoint b/dynamo/prefill/generate"), {11}),
        (NONE_LEFT, set()),
        (ValueError("Internal: RuntimeError: boom"), set()),
    ],
)
def test_an_error_accuses_whom_it_names(error: Exception, guilty: set[int]) -> None:
    assert accused(error, SUSPECTS) == guilty


@pytest.mark.parametrize(("error", "guilty"), [(BROKEN, {11}), (NONE_LEFT, {11}), (ValueError("Internal: x"), set())])
def test_who_is_alone_is_to_blame_where_a_worker_is_missing(error: Exception, guilty: set[int]) -> None:
    assert accused(error, {11: ""}) == guilty


@pytest.mark.parametrize("error", [REFUSED, GONE, NONE_LEFT, BROKEN, DEAD, DEAD_PREFILL])
def test_a_missing_worker_is_no_fault_of_the_clients(error: Exception) -> None:
    told = for_client(error, pinned=False)

    assert isinstance(told, HttpError)
    assert told.code == 503


def test_a_pin_to_an_unknown_worker_is_the_clients_fault() -> None:
    assert isinstance(for_client(GONE, pinned=True), InvalidArgument)


def test_a_refusal_is_told_as_it_is_and_no_engines_error_is_a_400() -> None:
    refusal = InvalidArgument("too long")

    assert for_client(refusal, pinned=False) is refusal
    assert not isinstance(for_client(ValueError("Internal: x"), pinned=False), ValueError)
