import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.frontend.corpus import Corpus
from benchmarks.frontend.workload import Workload


@pytest.fixture
def workload(corpus: Corpus, tmp_path: Path) -> Workload:
    return Workload(corpus, tmp_path, "seed")


def read(file: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(Path(file).read_text())
    return body


def test_every_second_request_for_first_tokens_extends_the_one_before(workload: Workload) -> None:
    phase = workload.first_tokens("1K", 2)
    bodies = [read(file) for file in phase.bodies]
    assert phase.concurrency == 1
    for first, second in (bodies[:2], bodies[2:]):
        assert second["messages"][: len(first["messages"])] == first["messages"]
        assert len(second["messages"]) == len(first["messages"]) + 2
    assert bodies[0]["messages"] != bodies[2]["messages"]


def test_second_turns_are_sent_when_all_first_turns_have_been(workload: Workload) -> None:
    first, second = workload.prompts("1K", 3)
    assert len(first.bodies) == len(second.bodies) == 3
    for before, after in zip(first.bodies, second.bodies, strict=True):
        assert read(after)["messages"][:1] == read(before)["messages"]


def test_only_streams_of_calls_have_tools(workload: Workload) -> None:
    bodies = {name: read(workload.streams(name, 1).bodies[0]) for name in ("text-1", "text-8", "calls-1", "calls-8")}
    assert [name for name, body in bodies.items() if "tools" in body] == ["calls-1", "calls-8"]
    assert all(body["stream_options"] == {"include_usage": True} for body in bodies.values())
