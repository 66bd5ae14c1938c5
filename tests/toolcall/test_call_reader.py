import pytest

from tests.toolcall.judge import function
from toolcall import parse_tools
from toolcall.call_reader import CallReader, Outcome
from toolcall.cursor import Cursor

PUT = function({"properties": {"path": {"type": "string"}, "a b": {"type": "string"}, "n": {"type": "integer"}}}, "put")
NOW = function({"properties": {}}, "now")
TOOLS = parse_tools([PUT, NOW])
ARGUMENT = "<arg_key>path</arg_key><arg_value>a</arg_value>"


def read(text: str, *, in_reasoning: bool = False, final: bool = False) -> tuple[Outcome, CallReader, Cursor]:
    cursor = Cursor()
    cursor.text += text
    cursor.mark(0)
    cursor.final = final
    reader = CallReader(TOOLS, in_reasoning=in_reasoning, balanced=True, bodies=True)
    return reader.read(cursor), reader, cursor


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        ("now</tool_call>", []),
        ("now\n</tool_call>", []),
        (f"put\n{ARGUMENT}\n</tool_call>", []),
        (f"other{ARGUMENT}</tool_call>", []),
        ("put<arg_key>path</arg_key>a</arg_value></tool_call>", ["path: missing <arg_value>"]),
        ("put<arg_key>path<arg_value>a</arg_value></tool_call>", ["path: missing </arg_key>"]),
        ("put\npath</arg_key><arg_value>a</arg_value></tool_call>", ["path: missing <arg_key>"]),
        ("puta b</arg_key><arg_value>a</arg_value></tool_call>", ["a b: missing <arg_key>"]),
        ("put<tool_call>path</arg_key><arg_value>a</arg_value></tool_call>", ["<tool_call> for <arg_key>"]),
        ("now</arg_value></tool_call>", ["stray </arg_value>"]),
        (f"put{ARGUMENT}n</arg_key><arg_value>1</arg_value></tool_call>", ["missing <arg_key>"]),
        ("put<arg_key>n</arg_key><arg_value>1<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>",
         ["n: missing </arg_value>"]),
        ('put{"path": "a<b", "n": 1}</tool_call>', ["JSON in place of the arguments"]),
        ('put>{"path": "</arg_value></tool_call>"}</arg_value>\n</tool_call>', ["JSON in place of the arguments"]),
        ("now {}</tool_call>", ["JSON in place of the arguments"]),
    ],
)  # fmt: skip
def test_calls_and_their_forced_repairs(text: str, repairs: list[str]) -> None:
    outcome, reader, cursor = read(text + "rest")
    assert outcome is Outcome.DONE
    assert reader.call.repairs == repairs
    assert cursor.text[cursor.at :] == "rest"


@pytest.mark.parametrize(
    "text",
    [
        "</tool_call>", " token", "` starts", "some words</tool_call>", " other</tool_call>", "put<b>", "put</think>",
        "other<tool_call>", "other</arg_value></tool_call>", "put<arg_key></arg_key>", "put<arg_key>a<b",
        "put<arg_key>nokey</arg_key>text", "put<arg_key>path</arg_key><arg_key>", f"put{ARGUMENT}text",
        'put{"path": "a"}', 'put{"path": "a"}</arg_key>', 'put{"other": 1}</tool_call>',
        'put{"path": 1, "path": 2}</tool_call>', 'put{"path": "a"}{}</tool_call>', 'put{"path": "a}</tool_call>',
        'other{"path": "a"}</tool_call>',
        "put{</tool_call>",
        f'put{{"path": "a"}}</arg_value>{ARGUMENT}</tool_call>', "put{}<b>", "put>></tool_call>",
        "nosuchkey</arg_key>", "putnosuchkey</arg_key><arg_value>",
    ],
)  # fmt: skip
def test_everything_else_is_no_call(text: str) -> None:
    assert read(text + " " * 70)[0] in (Outcome.REFUSED, Outcome.WAIT)
    outcome, reader, cursor = read(text + " " * 70, final=True)
    assert outcome is Outcome.REFUSED or reader.settle(cursor) is Outcome.REFUSED


@pytest.mark.parametrize("text", [f"put{ARGUMENT}</tool_call>", 'put >{"path": "\\""}</arg_value> </tool_call>'])
@pytest.mark.parametrize("stop", range(1, 40))
def test_a_call_that_is_cut_anywhere_waits(text: str, stop: int) -> None:
    assert read(text[:stop])[0] is Outcome.WAIT


@pytest.mark.parametrize("name", ["put", "other", "put>", ""])
def test_a_name_is_not_waited_for_without_end(name: str) -> None:
    assert read(name + " " * 1000)[0] is Outcome.WAIT
    assert read(name + " " * 2000)[0] is Outcome.REFUSED


def test_a_call_is_certain_from_its_first_value_on() -> None:
    assert not read("put<arg_key>path</arg_key>")[1].certain
    assert read("put<arg_key>path</arg_key><arg_value>")[1].certain
    assert not read("other<arg_key>path</arg_key><arg_value>")[1].certain
    assert not read("put<arg_key>path</arg_key><arg_value>", in_reasoning=True)[1].certain
    assert not read("put<arg_key>path<arg_value>")[1].certain


@pytest.mark.parametrize(
    "text", ["other</tool_call>", "now</arg_value></tool_call>", "put path</arg_key><arg_value>", "now{}</tool_call>"]
)
def test_in_reasoning_only_sound_calls_to_offered_tools_count(text: str) -> None:
    assert read(text, in_reasoning=True)[0] is Outcome.REFUSED


def test_a_bare_call_starts_behind_its_first_key_marker() -> None:
    cursor = Cursor()
    cursor.text += "path</arg_key><arg_value>a</arg_value></tool_call>"
    reader = CallReader(TOOLS, in_reasoning=False, balanced=True, bodies=True)
    reader.begin_bare("put")
    assert reader.read(cursor) is Outcome.DONE
    assert reader.call.repairs == ["missing <tool_call>"]


def test_the_end_of_the_text_settles_an_open_value() -> None:
    outcome, reader, cursor = read("put<arg_key>path</arg_key><arg_value>a.txt</tool_call>", final=True)
    assert outcome is Outcome.WAIT
    assert reader.settle(cursor) is Outcome.DONE
    assert reader.call.repairs == ["path: missing </arg_value>"]
