import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphs.process import Plan, ProcessSpec
from graphs.supervisor.log import Log
from graphs.supervisor.output import Output

FRONTEND = ProcessSpec("Frontend", "Frontend", 0, ("frontend",))
DECODE = ProcessSpec("Decode-10", "Decode", 10, ("decode",))
PLAN = Plan("glm53", (FRONTEND, DECODE), Path("/run"), url="http://127.0.0.1:8000", model="glm")


def written(use: Callable[[Log], None], *, terminal: bool, colour: bool = False) -> str:
    reader, writer = os.pipe()
    log = Log(PLAN, Output(writer, lambda: None), terminal=terminal, colour=colour)
    use(log)
    log.close()
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as text:
        return text.read()


def as_json(use: Callable[[Log], None]) -> dict[str, Any]:
    text = written(use, terminal=False)
    assert text.count("\n") == 1
    fields: dict[str, Any] = json.loads(text)
    return fields


def test_a_line_in_a_pipe_is_json_with_its_process_and_its_level() -> None:
    line = as_json(lambda log: log.line(DECODE, 7, "2026-11-29T19:50:14.5Z ERROR engine: \x1b[1mno\x1b[0m"))
    assert line == {
        "time": "2026-11-29T19:50:14.5Z",
        "service": "Decode",
        "replica": 10,
        "pid": 7,
        "level": "error",
        "message": "engine: no",
    }


def test_an_event_about_a_process_carries_the_process() -> None:
    line = as_json(lambda log: log.died(DECODE, 7, "exited with code 1", ["a", "b"]))
    assert line.pop("time")
    assert line == {
        "service": "Decode",
        "replica": 10,
        "pid": 7,
        "level": "error",
        "message": "Decode-10 exited with code 1; its last lines:",
        "event": "died",
        "last_lines": ["a", "b"],
    }


def test_the_ready_event_has_the_url_and_the_model() -> None:
    line = as_json(lambda log: log.ready(PLAN, 1.25))
    assert (line["event"], line["url"], line["model"]) == ("ready", "http://127.0.0.1:8000", "glm")
    assert (line["service"], line["graph"], line["seconds"]) == ("dynamo", "glm53", 1.25)


def test_a_terminal_line_has_the_name_of_its_process_in_front() -> None:
    assert written(lambda log: log.line(FRONTEND, 7, "hello"), terminal=True) == "Frontend  │ hello\n"
    assert written(lambda log: log.line(DECODE, 7, "hello"), terminal=True) == "Decode-10 │ hello\n"


def test_a_process_keeps_its_own_colours_only_where_colours_are_wanted() -> None:
    def use(log: Log) -> None:
        log.line(DECODE, 7, "\x1b[31mred\x1b[0m")

    assert written(use, terminal=True, colour=False) == "Decode-10 │ red\n"
    assert written(use, terminal=True, colour=True) == "\x1b[32mDecode-10 │\x1b[0m \x1b[31mred\x1b[0m\n"


def test_a_death_shows_its_last_lines_on_a_terminal() -> None:
    text = written(lambda log: log.died(DECODE, 7, "exited with code 1", ["a", "b"]), terminal=True)
    assert text.splitlines() == [
        "dynamo    │ Decode-10 exited with code 1; its last lines:",
        "dynamo    │     a",
        "dynamo    │     b",
    ]
    silent = written(lambda log: log.died(DECODE, 7, "exited with code 1", []), terminal=True)
    assert silent == "dynamo    │ Decode-10 exited with code 1; it wrote nothing\n"


class Full(Output):
    """An output that has no room until `room` is set."""

    def __init__(self) -> None:
        self.room = False
        self.texts: list[str] = []

    def write(self, data: bytes) -> bool:
        if self.room:
            self.texts.append(data.decode())
        return self.room


def test_lines_for_which_there_was_no_room_are_counted() -> None:
    output = Full()
    log = Log(PLAN, output, terminal=True, colour=False)
    for _ in range(3):
        log.line(DECODE, 7, "lost")
    output.room = True
    log.line(DECODE, 7, "kept")
    assert output.texts == [
        "dynamo    │ 3 lines were lost: what reads this output is too slow\n",
        "Decode-10 │ kept\n",
    ]
