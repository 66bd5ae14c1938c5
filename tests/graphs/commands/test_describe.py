import json
from pathlib import Path

import pytest

from graphs import cli


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_graph_is_drawn_with_its_topology_and_links(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["graphs"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "glm53: 5 services, P/D 1:4"
    assert lines[2].split() == ["Prefill", "1", "x", "DEP8,", "8", "GPUs", "mocker", "|", "vllm"]
    assert "  Prefill ─KV over NIXL─▶ Decode" in lines


def test_programs_get_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["graphs", "graphs:glm53", "--json"]) == 0
    (graph,) = json.loads(capfd.readouterr().out)
    assert [(each["name"], each["replicas"], each["gpus_per_replica"]) for each in graph["services"]] == [
        ("Frontend", 1, 0),
        ("Prefill", 1, 8),
        ("Decode", 4, 4),
        ("Mooncake", 1, 0),
        ("MooncakeClient", 1, 0),
    ]
