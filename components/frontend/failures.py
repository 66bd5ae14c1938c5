"""What an error of the routed engine says: whose fault it is, and whether other workers may do better.

Seen on ai-dynamo 1.6.1 (`docs/dynamo-notes.md` has the table): an error while the request is routed is a bare
`Exception` with Dynamo's text, one of the stream a `ValueError` that begins with its kind.
"""

from collections.abc import Mapping

from dynamo.llm.exceptions import (
    Cancelled,
    DynamoException,
    HttpError,
    InvalidArgument,
    RouterQueueLimitExceeded,
    WorkerUnavailable,
)

FINAL = (InvalidArgument, Cancelled, RouterQueueLimitExceeded, WorkerUnavailable)
"""Errors that would be the same anywhere: the client's own, a full queue, a graph that is not ready."""

FINAL_KINDS = ("InvalidArgument:", "InvalidRequest:", "Cancelled:")
STALE_PINS = ("does not identify a known worker", "not found for endpoint")
UNAVAILABLE = ("Unavailable:", "no endpoints available")
ENGINE_DEAD = "EngineDeadError"
"""What a worker says from the death of its engine's core process on, until it takes itself out of discovery."""


def may_succeed_elsewhere(error: Exception) -> bool:
    """Tell whether the same request may succeed on other workers."""
    text = str(error)
    return not isinstance(error, FINAL) and (_is_stale(text) or not text.startswith(FINAL_KINDS))


def _is_stale(text: str) -> bool:
    return any(words in text for words in STALE_PINS)


def for_client(error: Exception, *, pinned: bool) -> Exception:
    """Return what Dynamo's server turns into the right status; as a bare `ValueError` a dead worker would be a 400.

    Args:
        error: What the routed engine raised.
        pinned: Whether the client named the workers itself.
    """
    text = str(error)
    told: Exception = error
    if isinstance(error, DynamoException):
        return told
    if pinned and (_is_stale(text) or text.startswith("Pinned worker")):
        told = InvalidArgument(text)
    elif _is_stale(text) or text.startswith(UNAVAILABLE) or ENGINE_DEAD in text:
        told = HttpError(503, "Service temporarily unavailable")
    elif isinstance(error, ValueError):
        told = RuntimeError(text)
    return told


def accused(error: Exception, suspects: Mapping[int, str]) -> set[int]:
    """Return the workers that an error names, by instance id or by address; empty where it names none.

    Args:
        error: What the routed engine raised.
        suspects: Address of each worker that the request was sent to, `host:port`, empty where it has none.
    """
    text = f"{error} "
    named = {id_ for id_, address in suspects.items() if any(name in text for name in _names(id_, address))}
    return named or (set(suspects) if len(suspects) == 1 and text.startswith(UNAVAILABLE) else set())


def _names(worker_id: int, address: str) -> list[str]:
    # Decimal in what the router says, hexadecimal where a process does not serve the instance (any more).
    return [f"={worker_id} ", f" {worker_id:x}/", *([f" {address} "] if address else [])]
