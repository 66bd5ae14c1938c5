"""One answer's state, fed as an engine would."""

import msgspec
import pytest
from tokenizers import Tokenizer

from components.frontend.model import ServedModel
from components.frontend.outputs import EngineFailedError
from components.frontend.reply import Reply
from components.frontend.request import ChatRequest, Json
from components.frontend.tally import Tally
from components.frontend.timeline import Timeline
from toolcall import parse_tools
from toolcall.buckets import Judge

REQUEST = ChatRequest(model="glm", messages=[], stream=True)


def reply(model: ServedModel, request: ChatRequest = REQUEST, tools: list[Json] | None = None) -> Reply:
    parsed = parse_tools(tools, None, request.parallel_tool_calls)
    return Reply(
        request, model, parsed, Tally(parsed, Judge(tools)), 3, timeline=Timeline(), reasoning=False, request_id="r7"
    )


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
    answer = reply(model, tools=[WEATHER])
    answer.feed([{"token_ids": ids(tokenizer, text)}, {"token_ids": [], "finish_reason": finish}])
    answer.take()

    assert [record.getMessage().startswith(f"request r7: {told}") for record in caplog.records] == [True] * bool(told)


@pytest.mark.parametrize("streaming", [True, False])
def test_the_tally_sees_every_call_that_leaves_and_none_twice(
    model: ServedModel, tokenizer: Tokenizer, streaming: bool
) -> None:
    answer = reply(model, msgspec.structs.replace(REQUEST, stream=streaming), tools=[WEATHER])
    text = CALL.format("get_weather", "12345") + CALL.format("rm_rf", "1")
    for id_ in ids(tokenizer, text):
        answer.feed([{"token_ids": [id_]}])
        answer.take()
    answer.feed([{"token_ids": [], "finish_reason": "stop"}])
    answer.take()

    assert [(call.status, call.bucket) for call in answer.tally.sent] == [("ok", "ok"), ("undeclared", "UnknownName")]
    assert (answer.tally.truncated, answer.tally.dropped) == (0, 0)


def test_the_tally_is_told_of_a_cut_call_and_of_a_dropped_one(model: ServedModel, tokenizer: Tokenizer) -> None:
    cut, single = (
        reply(model, msgspec.structs.replace(REQUEST, parallel_tool_calls=parallel), tools=[WEATHER])
        for parallel in (True, False)
    )
    whole = CALL.format("get_weather", "12345")
    cut.feed([{"token_ids": ids(tokenizer, whole + whole[:60]), "finish_reason": "length"}])
    single.feed([{"token_ids": ids(tokenizer, whole + whole), "finish_reason": "stop"}])
    cut.take()
    single.take()

    assert [len(cut.tally.sent), cut.tally.truncated, cut.tally.dropped] == [1, 1, 0]
    assert [len(single.tally.sent), single.tally.truncated, single.tally.dropped] == [1, 0, 1]
