import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphs import cli

Replay = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())


@pytest.fixture
def replay(capfd: pytest.CaptureFixture[str]) -> Replay:
    """Runs `dynamo replay --json` and reads its document."""

    def run(words: str = "") -> dict[str, Any]:
        assert cli.run(["replay", "--json", *words.split()]) == 0
        found: dict[str, Any] = json.loads(capfd.readouterr().out)
        return found

    return run
