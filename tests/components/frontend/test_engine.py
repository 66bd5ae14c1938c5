"""How often a stream may send."""

from typing import Any, cast

import pytest

from components.frontend.engine import CHUNKS_PER_SECOND, ChatEngine, Settings
from components.frontend.model import ServedModel
from router import Fleet, Router, RouteRequest, plain


@pytest.mark.parametrize(
    ("streams", "seconds"),
    [(0, 0.02), (1, 0.02), (CHUNKS_PER_SECOND // 50, 0.02), (CHUNKS_PER_SECOND, 1.0)],
)
def test_few_streams_keep_the_set_interval_and_many_share_the_budget(
    model: ServedModel, streams: int, seconds: float
) -> None:
    router = Router(plain)
    for number in range(streams):
        router.place(RouteRequest(str(number), "glm", [1]), Fleet(), 0.0)

    engine = ChatEngine(model, cast("Any", None), router, Settings(stream_interval_ms=20.0))

    assert engine._interval() == pytest.approx(seconds)
