"""Times the calls of a method where they are made, without a copy of the code around it."""

import contextlib
import functools
import inspect
import time
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def timed(owner: type, name: str) -> Iterator[list[float]]:
    """Yield a list that takes the ms of each call of a method, or until its coroutine returned, while this lasts."""
    took: list[float] = []
    original = getattr(owner, name)
    setattr(owner, name, (_later if inspect.iscoroutinefunction(original) else _now)(original, took))
    try:
        yield took
    finally:
        setattr(owner, name, original)


def _now(call: Callable[..., Any], took: list[float]) -> Callable[..., Any]:
    @functools.wraps(call)
    def around(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        try:
            return call(*args, **kwargs)
        finally:
            took.append((time.perf_counter() - begun) * 1e3)

    return around


def _later(call: Callable[..., Any], took: list[float]) -> Callable[..., Any]:
    @functools.wraps(call)
    async def around(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        try:
            return await call(*args, **kwargs)
        finally:
            took.append((time.perf_counter() - begun) * 1e3)

    return around
