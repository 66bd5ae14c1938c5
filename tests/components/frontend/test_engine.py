"""How often a stream may send, and what is made once for many requests."""

import sys
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from components.frontend.engine import CHUNKS_PER_SECOND, ChatEngine, Context, Settings
from components.frontend.metrics import Metrics
from components.frontend.model import ServedModel
from components.frontend.placing import Placing
from router import Plain, Router
from toolcall import tag, tools


def chat_engine(model: ServedModel, streams: int = 0) -> ChatEngine:
    metrics = Metrics()
    placing = Placing(model.name, Router(Plain()), metrics.router, streams=lambda: streams)
    return ChatEngine(model, cast("Any", None), placing, Settings(), metrics)


@pytest.mark.parametrize(
    ("streams", "seconds"),
    [(0, 0.02), (1, 0.02), (CHUNKS_PER_SECOND // 50, 0.02), (CHUNKS_PER_SECOND, 1.0)],
)
def test_few_streams_keep_the_set_interval_and_many_share_the_budget(
    model: ServedModel, streams: int, seconds: float
) -> None:
    assert chat_engine(model, streams)._interval() == pytest.approx(seconds)


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns so often that none can do much unseen."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


class Request:
    """A request's context."""

    def __init__(self) -> None:
        self.metadata: Any = {}

    def id(self) -> str:
        return "r"

    def is_stopped(self) -> bool:
        return False

    def stop_generating(self) -> None:
        pass


@pytest.mark.usefixtures("restless")
def test_requests_that_come_together_with_new_tools_read_and_build_them_once(model: ServedModel) -> None:
    properties = {f"key_{number}": {"type": "string", "enum": ["a", "b"]} for number in range(20)}
    functions = [
        {"name": f"together_{number}", "parameters": {"type": "object", "properties": properties}}
        for number in range(9)
    ]
    offered = [{"type": "function", "function": function} for function in functions]
    body = {"model": "glm", "messages": [{"role": "user", "content": "x"}], "tools": offered}
    engine, start = chat_engine(model), threading.Barrier(4)
    context: Context = Request()

    def prepare() -> None:
        start.wait()
        engine._prepare(body, context)

    before = tools._read_tool.cache_info().misses, tag._build.cache_info().misses
    threads = [threading.Thread(target=prepare) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    after = tools._read_tool.cache_info().misses, tag._build.cache_info().misses
    assert (after[0] - before[0], after[1] - before[1]) == (len(offered), 1)
