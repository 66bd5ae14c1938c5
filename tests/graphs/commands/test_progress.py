import io
import math

import pytest
from rich.console import Console

from graphs.commands import progress


def test_runs_that_end_count_whole_and_the_one_under_way_by_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = io.StringIO()
    monkeypatch.setattr(progress, "Console", lambda **_: Console(file=seen, force_terminal=True, width=100))
    with progress.of_runs(4) as tell:
        for share in (0.5, 1.0, 1.0, math.inf, math.inf):
            tell("first", share)
        tell("third", 0.4)
    # Two of four are over, however often a run said that it was all done.
    assert "third" in seen.getvalue()
    assert "60%" in seen.getvalue()


def test_a_pipe_sees_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.of_runs(2) as tell:
        tell("first", math.inf)
    assert capfd.readouterr() == ("", "")
