"""An agent's loop by hand: several turns, and the history rendered as it was meant.

The stand-in draws its seed from the prompt's tokens, so two histories that get the same answer are the same prompt.
"""

import json
from itertools import count

import pytest

from tests.live.chat import Answer, Chat, Json, blocks, user
from tests.live.serving import until
from tests.live.tools import TOOLS, assert_calls, named

TURNS = 5
OFFERED = [TOOLS["read_file"], TOOLS["run_command"], TOOLS["update_plan"]]
TASK = [{"role": "system", "content": "You mend software."}, *user("The tests fail. Find out why.")]


def said(answer: Answer, *, reasoning: bool = True) -> Json:
    """An answer as the assistant's message of a history."""
    message: Json = {"role": "assistant", "content": answer.content or None}
    if reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, (name, arguments) in zip(answer.call_ids, answer.calls, strict=True)
        ]
    return message


def result(call_id: str, content: object) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def parts(*texts: str) -> list[Json]:
    return [{"type": "text", "text": text} for text in texts]


def prompt_tokens(answer: Answer) -> int:
    assert answer.usage is not None
    return answer.usage.prompt_tokens


def several_calls(chat: Chat) -> Answer:
    return chat.first(TASK, lambda answer: len(answer.calls) > 1, tools=OFFERED, tool_choice="required")


@pytest.mark.parametrize("stream", [False, True])
def test_a_loop_of_several_turns_goes_to_its_end(chat: Chat, stream: bool) -> None:
    history = list(TASK)
    lengths = []
    for turn in range(TURNS):
        last = turn == TURNS - 1
        ask = chat.stream if stream else chat.whole
        fields = {"stream_options": {"include_usage": True}} if stream else {}
        answer = ask(history, tools=OFFERED, tool_choice="auto" if last else "required", **fields)
        lengths.append(prompt_tokens(answer))
        history.append(said(answer))
        if answer.calls:
            assert_calls(answer, OFFERED)
        for id_, (name, arguments) in zip(answer.call_ids, answer.calls, strict=True):
            history.append(result(id_, json.dumps({"ran": name, "with": json.loads(arguments)})))
    assert answer.finish_reason == "stop"
    assert answer.content
    assert lengths == sorted(set(lengths)), "each prompt is longer than the one before"


def test_turns_after_the_first_are_found_in_the_cache(chat: Chat) -> None:
    first = chat.whole(TASK, tools=OFFERED, tool_choice="required", seed=3)
    tries = count()

    def found() -> bool:
        results = [result(id_, f"done {next(tries)}") for id_ in first.call_ids]
        second = chat.whole([*TASK, said(first), *results], tools=OFFERED)
        assert second.usage is not None
        assert second.usage.prompt_tokens_details is not None
        return (second.usage.prompt_tokens_details.cached_tokens or 0) >= blocks(prompt_tokens(first)) > 0

    until(found, "the blocks of the first turn are found")


def test_a_result_may_be_text_or_a_list_of_parts(chat: Chat) -> None:
    call = chat.whole(TASK, tools=OFFERED, tool_choice=named("read_file"))
    (id_,) = call.call_ids
    answers = [
        chat.whole([*TASK, said(call), result(id_, content)], tools=OFFERED)
        for content in (
            "def main():\n    pass\n",
            parts("def main():\n    pass\n"),
            parts("def main():\n", "    pass\n"),
        )
    ]
    assert answers[0] == answers[1] == answers[2]
    other = chat.whole([*TASK, said(call), result(id_, "something else")], tools=OFFERED)
    assert other != answers[0]


def test_results_of_parallel_calls_may_come_in_any_order(chat: Chat) -> None:
    calls = several_calls(chat)
    results = [result(id_, f"result {at}") for at, id_ in enumerate(calls.call_ids)]
    in_order = chat.whole([*TASK, said(calls), *results], tools=OFFERED)
    reversed_ = chat.whole([*TASK, said(calls), *reversed(results)], tools=OFFERED)
    swapped = [result(id_, f"result {at}") for at, id_ in enumerate(reversed(calls.call_ids))]
    assert in_order == reversed_
    assert prompt_tokens(in_order) == prompt_tokens(reversed_)
    assert chat.whole([*TASK, said(calls), *swapped], tools=OFFERED) != in_order


def test_reasoning_sent_back_is_part_of_the_prompt(chat: Chat) -> None:
    call = chat.whole(TASK, tools=OFFERED, tool_choice="required")
    results = [result(id_, "done") for id_ in call.call_ids]
    kept = chat.whole([*TASK, said(call), *results], tools=OFFERED)
    dropped = chat.whole([*TASK, said(call, reasoning=False), *results], tools=OFFERED)
    assert call.usage is not None
    assert call.usage.completion_tokens_details is not None
    thought = call.usage.completion_tokens_details.reasoning_tokens or 0
    # The answer's own count has the closing marker in it, which the template writes either way.
    assert prompt_tokens(kept) == prompt_tokens(dropped) + thought - 1
    renamed = said(call, reasoning=False) | {"reasoning": call.reasoning}
    assert chat.whole([*TASK, renamed, *results], tools=OFFERED) == kept


def test_the_order_of_keys_in_the_arguments_is_kept(chat: Chat) -> None:
    def ask(arguments: str) -> Answer:
        call = Answer(calls=[("run_command", arguments)], call_ids=["call_1"])
        return chat.whole([*TASK, said(call), result("call_1", "done")], tools=OFFERED)

    written = ask('{"command": "ls", "timeout_s": 5}')
    assert ask('{ "command":"ls","timeout_s":5 }') == written
    assert ask('{"timeout_s": 5, "command": "ls"}') != written


def test_a_history_may_hold_calls_of_tools_that_are_no_longer_offered(chat: Chat) -> None:
    gone = Answer(calls=[("old_tool", '{"nested": {"a": [1, null, "x"]}}')], call_ids=["call_1"])
    answer = chat.whole([*TASK, said(gone), result("call_1", "done")], tools=OFFERED)
    assert answer.finish_reason == "stop"


def test_a_call_without_arguments_may_say_so_in_any_way(chat: Chat) -> None:
    tools = [TOOLS["current_time"]]
    answers = [
        chat.whole(
            [*TASK, said(Answer(calls=[("current_time", text)], call_ids=["call_1"])), result("call_1", "noon")],
            tools=tools,
        )
        for text in ("{}", " { } ", "")
    ]
    assert answers[0] == answers[1] == answers[2]
