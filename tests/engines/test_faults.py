"""Real engines that die under load: what clients see, and that the supervisor brings the engines back."""

import signal
import time
from collections.abc import Callable

import psutil
import pytest

from tests.engines.load import Load
from tests.engines.miniature import READY_LIMIT_S, Miniature
from tests.live.serving import until

SESSIONS = 6
MARGIN_S = 2.0
"""After a kill, no request may fail later than this."""

SERVED = 20
"""Answers after the margin that show that the graph serves."""

pytestmark = pytest.mark.timeout(900)


def whole(graph: Miniature) -> bool:
    """Whether two prefill engines and two decoders are there, and none is shut out."""
    fleet = graph.state()["fleet"]
    return (len(fleet["prefill"]), len(fleet["decode"]), fleet["excluded"]) == (2, 2, [])


@pytest.mark.parametrize(
    ("name", "victim"),
    [
        ("a decoder", lambda graph: graph.engines("Decode")[0].process),
        ("a prefill engine", lambda graph: graph.engines("Prefill")[0].process),
        # It holds the NIXL side channel, while the process that Dynamo knows lives on.
        ("the core of a prefill engine", lambda graph: graph.engines("Prefill")[0].core),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nobody_is_hurt_by_an_engine_that_dies(
    dense: Miniature,
    name: str,
    victim: Callable[[Miniature], psutil.Process],
    capsys: pytest.CaptureFixture[str],
) -> None:
    load = Load(dense, SESSIONS)
    killed = 0.0

    def script() -> None:
        nonlocal killed
        until(lambda: whole(dense) and len(load.served) > 2 * SESSIONS, "a whole graph", limit_s=READY_LIMIT_S)
        dying = victim(dense)
        dying.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        until(
            lambda: sum(end > killed + MARGIN_S for end in load.served) >= SERVED, "served by the others", limit_s=120
        )
        until(lambda: not whole(dense), "the fleet without the engine")

    load.during(script)
    # It starts in half the time when nobody else wants the cores.
    until(lambda: whole(dense), "the engine again", limit_s=READY_LIMIT_S)
    back = time.monotonic()
    failures = [(round(end - killed, 2), status) for end, status in load.failed]
    with capsys.disabled():
        print(f"\n{name} killed: failed (s, status): {failures}, back after {back - killed:.0f} s", end="")  # noqa: T201 - the figures are what is asked for
    assert all(0 <= after <= MARGIN_S for after, _ in failures), dense.tail()
    assert {status for _, status in failures} <= {503}, "an engine's death is no fault of the client's"
