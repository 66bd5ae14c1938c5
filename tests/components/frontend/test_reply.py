"""One answer's state, fed as an engine would."""

import msgspec
import pytest
from tokenizers import Tokenizer

from components.frontend.model import ServedModel
from components.frontend.outputs import EngineFailedError
from components.frontend.reply import Reply
from components.frontend.request import ChatRequest
from toolcall import parse_tools

REQUEST = ChatRequest(model="glm", messages=[], stream=True)


def reply(model: ServedModel, request: ChatRequest = REQUEST, *, reasoning: bool = False) -> Reply:
    return Reply(request, model, parse_tools(None), 3, reasoning=reasoning, request_id="r")


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def test_nothing_new_is_no_chunk(model: ServedModel) -> None:
    answer = reply(model)
    answer.feed([{"token_ids": []}])

    assert answer.take() is None


def test_outputs_fed_together_leave_as_one_chunk(model: ServedModel, tokenizer: Tokenizer) -> None:
    answer = reply(model)
    answer.feed([{"token_ids": [id_]} for id_ in ids(tokenizer, "one two three")])

    chunk = answer.take()

    assert chunk is not None
    assert chunk["choices"][0]["delta"]["content"] == "one two three"
    assert answer.take() is None


def test_a_whole_answer_waits_for_its_end(model: ServedModel, tokenizer: Tokenizer) -> None:
    answer = reply(model, msgspec.structs.replace(REQUEST, stream=False))
    answer.feed([{"token_ids": ids(tokenizer, "one")}])
    assert answer.take() is None

    answer.feed([{"token_ids": [], "finish_reason": "stop"}])

    chunk = answer.take()
    assert chunk is not None
    assert (chunk["choices"][0]["delta"]["content"], chunk["choices"][0]["finish_reason"]) == ("one", "stop")


def test_what_follows_the_end_is_ignored(model: ServedModel, tokenizer: Tokenizer) -> None:
    answer = reply(model)
    answer.feed([{"token_ids": [], "finish_reason": "eos"}, {"token_ids": ids(tokenizer, "late")}])

    chunk = answer.take()

    assert chunk is not None
    assert not chunk["choices"][0]["delta"].get("content")
    assert answer.finish_reason == "stop"


@pytest.mark.parametrize("reason", ["error", {"error": "out of memory"}, "cancelled"])
def test_a_failed_engine_is_no_finished_answer(model: ServedModel, reason: object) -> None:
    with pytest.raises(EngineFailedError):
        reply(model).feed([{"token_ids": [], "finish_reason": reason}])


def test_a_held_back_beginning_of_a_stop_string_comes_with_the_end(model: ServedModel, tokenizer: Tokenizer) -> None:
    answer = reply(model, msgspec.structs.replace(REQUEST, stop=["three"]))
    answer.feed([{"token_ids": ids(tokenizer, "one thr")}, {"token_ids": [], "finish_reason": "length"}])

    chunk = answer.take()

    assert chunk is not None
    assert chunk["choices"][0]["delta"]["content"] == "one thr"
    assert answer.finish_reason == "length"


def test_an_end_token_is_counted_and_not_shown(model: ServedModel, tokenizer: Tokenizer) -> None:
    request = msgspec.structs.replace(REQUEST, skip_special_tokens=False, logprobs=True)
    answer = reply(model, request)
    token_ids = [*ids(tokenizer, "one"), model.eos_token_ids[0]]
    answer.feed([{"token_ids": token_ids, "log_probs": [-1.0] * len(token_ids), "finish_reason": "stop"}])

    chunk = answer.take()

    assert chunk is not None
    assert chunk["choices"][0]["delta"]["content"] == "one"
    assert len(chunk["choices"][0]["logprobs"]["content"]) == len(token_ids) - 1
    assert answer.tokens.usage()["completion_tokens"] == len(token_ids)


@pytest.mark.parametrize("together", [True, False])
def test_tokens_behind_a_stop_string_are_not_counted(model: ServedModel, tokenizer: Tokenizer, together: bool) -> None:
    answer = reply(model, msgspec.structs.replace(REQUEST, stop=["two"]))
    outputs = [{"token_ids": [id_]} for id_ in ids(tokenizer, "one two three four five")]
    for batch in [outputs] if together else [[output] for output in outputs]:
        answer.feed(batch)

    assert answer.finish_reason == "stop"
    assert answer.tokens.usage()["completion_tokens"] == len(ids(tokenizer, "one two"))


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"zip": {"type": "string", "pattern": "^[0-9]{5}$"}}},
    },
}
CALL = "<tool_call>{0}<arg_key>zip</arg_key><arg_value>{1}</arg_value></tool_call>"


@pytest.mark.parametrize(
    ("text", "finish", "told"),
    [
        (CALL.format("get_weather", "Lima"), "stop", "call 0 is invalid"),
        (CALL.format("rm_rf", "12345"), "stop", "call 0 is undeclared"),
        (CALL.format("get_weather", "12345")[:60], "length", "a call was cut by the limit"),
        (CALL.format("get_weather", "12345"), "stop", ""),
    ],
)
def test_a_call_that_is_not_what_was_asked_for_is_logged(
    model: ServedModel, tokenizer: Tokenizer, caplog: pytest.LogCaptureFixture, *, text: str, finish: str, told: str
) -> None:
    answer = Reply(REQUEST, model, parse_tools([WEATHER]), 3, reasoning=False, request_id="r7")
    answer.feed([{"token_ids": ids(tokenizer, text)}, {"token_ids": [], "finish_reason": finish}])
    answer.take()

    assert [record.getMessage().startswith(f"request r7: {told}") for record in caplog.records] == [True] * bool(told)
