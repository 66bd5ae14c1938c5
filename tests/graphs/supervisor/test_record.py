import json
import re

import pytest

from graphs.supervisor.record import parse

DYNAMO = (
    "\x1b[2m2026-11-29T19:50:14.589060Z\x1b[0m \x1b[33m WARN\x1b[0m "
    "\x1b[2mdynamo_llm::discovery\x1b[0m\x1b[2m:\x1b[0m watch closed \x1b[3msource\x1b[0m\x1b[2m=\x1b[0mPrefill"
)


def test_a_text_line_of_dynamo_keeps_its_level_and_its_time_and_loses_its_colours() -> None:
    record = parse(DYNAMO)
    assert (record.time, record.level) == ("2026-11-29T19:50:14.589060Z", "warning")
    assert record.message == "dynamo_llm::discovery: watch closed source=Prefill"


def test_a_json_line_of_dynamo_keeps_its_level_its_time_and_its_origin() -> None:
    fields = {"time": "2026-11-29T19:55:43.167407Z", "level": "ERROR", "target": "log", "message": "no", "log.line": 3}
    record = parse(json.dumps(fields))
    assert (record.time, record.level, record.message) == ("2026-11-29T19:55:43.167407Z", "error", "log: no")


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("INFO 11-29 19:50:14 [core.py:12] ready", "info"),
        ("(EngineCore pid=77) WARNING 11-29 19:50:14 [core.py:12] slow", "warning"),
        ("ERROR: it failed", "error"),
        ("CRITICAL root: it failed", "critical"),
        ("I20261129 19:50:14.123456 4711 master.cpp:12] started", "info"),
        ("W1129 19:50:14.123456 4711 master.cpp:12] slow", "warning"),
        ("F20261129 19:50:14.123456 4711 master.cpp:12] gone", "critical"),
        ("INFORMATION about nothing", "info"),
        ("a line", "info"),
        ("", "info"),
    ],
)
def test_other_lines_are_kept_whole_at_the_level_they_name(line: str, level: str) -> None:
    record = parse(line)
    assert (record.level, record.message) == (level, line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", record.time)


@pytest.mark.parametrize("line", ["{", '{"level": "ERROR"}', '{"time": 1, "level": "INFO"}', "{}", "{'a': 1}"])
def test_json_that_is_no_record_is_a_line_like_others(line: str) -> None:
    assert (parse(line).level, parse(line).message) == ("info", line)
