import json

import pytest
from tokenizers import Tokenizer

from benchmarks.frontend import script
from toolcall import parse, parse_tools


def test_the_scripted_calls_are_good_calls_of_the_tools() -> None:
    message = parse(script.CALLS, parse_tools(script.TOOLS), reasoning=True)
    assert [(call.name, call.status.kind) for call in message.tool_calls] == [("write_file", "ok"), ("run_tests", "ok")]
    assert len(message.tool_calls) == script.CALL_COUNT
    assert json.loads(message.tool_calls[1].arguments)["timeout_s"] == 120


def test_the_scripted_text_holds_reasoning_and_no_call() -> None:
    message = parse(script.TEXT, parse_tools(script.TOOLS), reasoning=True)
    assert message.reasoning
    assert message.content
    assert not message.tool_calls


@pytest.mark.parametrize("kind", ["calls", "text"])
def test_an_answer_is_about_as_long_as_the_mockers(tokenizer: Tokenizer, kind: script.Kind) -> None:
    assert 400 < len(tokenizer.encode(script.text_of(kind), add_special_tokens=False).ids) < 700


@pytest.mark.parametrize("size", [1, 2, 8])
def test_outputs_hold_all_tokens_and_end_once(size: int) -> None:
    outputs = script.outputs(list(range(7)), 99, size)
    assert [token for output in outputs for token in output["token_ids"]] == [*range(7), 99]
    assert all(len(output["token_ids"]) <= size for output in outputs)
    assert [output.get("finish_reason") for output in outputs] == [None] * (len(outputs) - 1) + ["stop"]
