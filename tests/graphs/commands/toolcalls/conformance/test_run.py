"""`dynamo toolcall conformance`."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphs import cli
from tests.graphs.commands.toolcalls.conformance.conftest import CASE, CUT, REPEATING, SCHEMA, TAG, Write

Captured = pytest.CaptureFixture[str]
WRONG_CALL: dict[str, Any] = CASE | {"id": "call-2", "expect": {"tool_calls": []}}


def conformance(folder: Path, *words: str) -> int:
    return cli.run(["toolcall", "conformance", "--suite", str(folder), "--chunkings", "3", *words])


def test_a_suite_that_is_right_ends_with_0(write: Write, capsys: Captured) -> None:
    assert conformance(write(dev=[CASE], reports=[CUT], tags=[TAG], schemas=[SCHEMA])) == 0

    said = capsys.readouterr().out
    assert "| basic_call                |     1 |" in said
    assert "Ours also in 3 random chunkings" in said
    assert "Tags: 1 of 1" in said
    assert "Schemas: 1 tools" in said
    assert "WRONG" not in said


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"dev": [CASE, WRONG_CALL]}, ["WRONG call-2, whole: tool_calls", "WRONG call-2, chars: tool_calls"]),
        ({"dev": [CASE], "tags": [TAG | {"accepted": False}]}, ["WRONG tag-1: accepted, and must be refused"]),
        ({"dev": [CASE], "schemas": [SCHEMA | {"valid": [REPEATING]}]}, ["WRONG s-1: not read back"] * 2),
    ],
)
def test_whatever_of_ours_is_wrong_is_named_and_ends_with_1(
    write: Write, capsys: Captured, files: dict[str, Any], named: list[str]
) -> None:
    assert conformance(write(**files)) == 1

    wrong = [line for line in capsys.readouterr().out.split("\n") if line.startswith("WRONG")]
    assert [line[: len(name)] for line, name in zip(wrong, named, strict=True)] == named


def test_what_another_parser_gets_wrong_does_not_change_the_exit_code(write: Write, capsys: Captured) -> None:
    union = {"type": ["integer", "string"]}
    tool = {"type": "function", "function": {"name": "f.g", "parameters": {"properties": {"k": union}}}}
    output = "<tool_call>f.g<arg_key>k</arg_key><arg_value>3</arg_value></tool_call>"
    expect = {"tool_calls": [{"name": "f.g", "arguments": {"k": 3}}]}
    dotted = {"id": "name-1", "kind": "tool_name", "tools": [tool], "output": output, "expect": expect}

    assert conformance(write(dev=[CASE, dotted], tags=[TAG]), "--against", "dynamo", "--json") == 0

    report = json.loads(capsys.readouterr().out)
    ours, dynamo = report["parsers"]
    assert (ours["name"], ours["all"]["right"]) == ("ours", [2, 2])
    assert (dynamo["name"], dynamo["version"], dynamo["all"]["right"]) == ("dynamo", "1.6.1", [1, 1])
    assert dynamo["kinds"]["tool_name"]["errors"] == [1, 1]
    first, second = dynamo["results"]
    assert first["whole"]["reading"]["tool_calls"][0]["name"] == "get_weather"
    assert second["streamed"]["error"].startswith("HTTP 400")
    assert (report["tags"]["cases"], report["wrong"]) == (1, [])


def test_what_is_wrong_is_in_the_json_too(write: Write, capsys: Captured) -> None:
    assert conformance(write(dev=[WRONG_CALL]), "--json") == 1
    assert json.loads(capsys.readouterr().out)["wrong"][0] == "call-2, whole: tool_calls"


def test_bad_input_ends_with_2(tmp_path: Path, write: Write, capsys: Captured) -> None:
    assert conformance(tmp_path / "nowhere") == 2
    assert "there is no .jsonl file of cases" in capsys.readouterr().err
    assert conformance(write(dev=[CASE]), "--against", "nobody") == 2
    assert "--against nobody: no parser of that name" in capsys.readouterr().err
