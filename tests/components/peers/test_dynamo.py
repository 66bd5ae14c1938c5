"""Dynamo's real frontend over a dozen cases whose outcome is known."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.peers.protocol import Answer, line, read_answers
from tests.conformance.cases import outputs
from toolcall.conformance import Case, differences

RIGHT = {
    "plain_text-01": (True, True),
    "plain_text-03": (True, True),
    "basic_call-01": (True, True),
    "unicode-01": (True, True),
    "parallel_calls-01": (True, True),
    "truncation-01": (True, True),
    "entities-01": (True, True),
    # A newline between key and value: the arguments come back empty.
    "glm45_layout-01": (False, True),
    # `<think>` inside a value is taken out of it.
    "think_in_value-01": (False, True),
    # A missing `<arg_value>` is not mended.
    "recoverable-01": (False, False),
    # The API refuses a dot in a name.
    "tool_name-01": (None, None),
}
"""Whether Dynamo 1.6.1 reads a case right, by default and with its second parser; None where it refuses it."""


def answers(name: str, cases: list[Case], folder: Path) -> list[tuple[Answer, Answer]]:
    # Neither setting of this shell may change the figures.
    env = {
        **os.environ,
        "DYN_PARSER_VERSION": "2" if name == "dynamo" else "1",
        "DYN_LOG": "debug",
        "TMPDIR": str(folder),
    }
    done = subprocess.run(
        [sys.executable, "-m", "components.peers", name],
        input=b"".join(map(line, cases)),
        capture_output=True,
        env=env,
        check=True,
        timeout=60,
        start_new_session=True,
    )
    peer, answered = read_answers(done.stdout, cases)
    assert (peer.name, peer.version) == (name, "1.6.1")
    return answered


@pytest.mark.parametrize(("column", "name"), [(0, "dynamo"), (1, "dynamo-v2")])
def test_dynamo_s_own_chat_path_answers_and_leaves_nothing_behind(column: int, name: str, tmp_path: Path) -> None:
    cases = [case for case in outputs() if case.id in RIGHT]

    answered = answers(name, cases, tmp_path)

    found: dict[str, list[bool | None]] = {}
    for case, pair in zip(cases, answered, strict=True):
        found[case.id] = [None if each.reading is None else not differences(case, each.reading) for each in pair]
    assert found == {case.id: [RIGHT[case.id][column]] * 2 for case in cases}
    (refused,) = [pair for pair in answered if pair[0].id == "tool_name-01"]
    assert all("invalid name" in (each.error or "") for each in refused)
    assert list(tmp_path.iterdir()) == []
