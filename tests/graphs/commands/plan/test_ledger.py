import json
from pathlib import Path

import pytest

from graphs import cli

WRITTEN = Path(__file__).parents[4] / "docs" / "ledger.md"


def test_the_document_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["plan", "--ledger"]) == 0
    assert capsys.readouterr().out == WRITTEN.read_text(), "dynamo plan --ledger > docs/ledger.md"


def test_programs_get_it_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["plan", "--ledger", "--json"]) == 0
    claims = json.loads(capsys.readouterr().out)
    assert {"source", "what", "published", "ours", "formula", "verdict"} == set(claims[0])
    assert claims[0]["verdict"] == "reproduced"
