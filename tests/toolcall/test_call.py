import json

from tests.toolcall.judge import function
from toolcall import CallStatus, parse_tools
from toolcall.call import Call

TOOL = parse_tools([function({"properties": {"s": {"type": "string"}, "n": {"type": "integer", "minimum": 2}}})]).tools[
    0
]


def test_pieces_join_to_one_object() -> None:
    call = Call("f", TOOL)
    call.begin_text("s")
    call.add_text('a"')
    pieces = [call.take()]
    call.add_text("\n")
    call.add("s", 'a"\n')
    call.add("n", "3")
    assert call.close() == CallStatus("ok")
    pieces.append(call.take())
    assert pieces == ['{"s": "a\\"', '\\n", "n": 3}']
    assert json.loads("".join(pieces)) == {"s": 'a"\n', "n": 3}


def test_no_arguments_are_an_empty_object() -> None:
    call = Call("f", TOOL)
    assert call.close() == CallStatus("ok")
    assert call.take() == "{}"


def test_a_problem_outweighs_a_repair() -> None:
    call = Call("f", TOOL)
    call.repairs.append("mended")
    call.add("n", "3")
    assert call.close().kind == "recovered"
    call = Call("f", TOOL)
    call.repairs.append("mended")
    call.add("n", "1")
    status = call.close()
    assert (status.kind, status.path) == ("invalid", "$.n")


def test_an_undeclared_tool_reads_values_by_themselves() -> None:
    call = Call("g", None)
    call.add("x", "3")
    call.add("y", "three")
    assert call.close().kind == "undeclared"
    assert json.loads(call.take()) == {"x": 3, "y": "three"}


def test_keys_are_known_once() -> None:
    call = Call("f", TOOL)
    assert call.is_new("n")
    call.add("n", "3")
    assert not call.is_new("n")
    assert call.declares("n")
    assert not call.declares("m")


def test_values_that_are_read_already_are_taken_as_they_are() -> None:
    call = Call("f", TOOL)
    call.add_read({"s": "3", "n": 3})
    assert call.close() == CallStatus("ok")
    assert call.take() == '{"s": "3", "n": 3}'
