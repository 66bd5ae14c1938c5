import json
from pathlib import Path

import pytest

from graphs import cli
from graphs.machine import free_ports


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_machine_that_can_serve_gets_a_list_of_what_is_well(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["doctor", f"--Frontend.http-port={free_ports(1)[0]}"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "ok  ai-dynamo: 1.6.1"
    assert {line.split()[0] for line in lines} == {"ok"}


def test_a_machine_that_cannot_serve_is_told_what_to_mend(capfd: pytest.CaptureFixture[str]) -> None:
    word = "--Common.model-path=/nowhere/model"
    assert cli.run(["doctor", word, f"--Frontend.http-port={free_ports(1)[0]}"]) == 2
    bad = [line for line in capfd.readouterr().out.splitlines() if line.startswith("BAD")]
    assert bad == [
        "BAD model: Prefill.model-path /nowhere/model is no folder: give a model's folder or its id on the hub"
    ]


def test_programs_get_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["doctor", "--json", f"--Frontend.http-port={free_ports(1)[0]}"]) == 0
    checks = json.loads(capfd.readouterr().out)
    assert checks[0] == {"name": "ai-dynamo", "found": "1.6.1", "mend": "", "ok": True}
