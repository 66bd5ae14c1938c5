import json
import math
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from components.local.vocabulary import Part

if TYPE_CHECKING:
    from tests.components.local.conftest import Writer

PLAIN = "<|user|>Hello {}<|assistant|></think>"
THINKING = "<|user|>Hello {}<|assistant|><think>"
RESULT = "<|user|>Hello {}<|assistant|><think></think><tool_call>f</tool_call><|observation|>1<|assistant|><think>"
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["C", "F"]}},
    "required": ["city", "unit"],
}
CALL = {
    "type": "tag",
    "begin": "<tool_call>get_weather",
    "content": {
        "type": "json_schema",
        "style": "glm_xml",
        "json_schema": PARAMETERS,
        "excludes": ["</arg_value>"],
    },
    "end": "</tool_call>",
}
REASONING = {
    "type": "tag",
    "begin": "",
    "content": {"type": "any_text", "excludes": ["<tool_call>"]},
    "end": "</think>",
}
AUTO = {"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": [CALL], "excludes": ["<think>", "</think>"]}


def tag(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"structural_tag": {"type": "structural_tag", "format": {"type": "sequence", "elements": list(elements)}}}


async def test_an_answer_reasons_says_something_and_ends(writer: "Writer") -> None:
    lengths = []
    for index in range(20):
        generation = await writer.start(THINKING.format(index))
        chunk = generation.take(10_000)
        reasoning, content = writer.text(chunk.token_ids).split("</think>")
        assert chunk.finish_reason == "stop"
        assert reasoning[0].isupper()
        assert content.endswith(("<|user|>", "<|observation|>", "<|endoftext|>"))
        assert "<" not in reasoning
        lengths.append(len(chunk.token_ids))
    assert max(lengths) < 300


async def test_the_same_request_gives_the_same_tokens_in_whatever_chunks(writer: "Writer") -> None:
    whole = (await writer.start(THINKING.format(1))).take(10_000).token_ids
    generation = await writer.start(THINKING.format(1))
    pieces: list[int] = []
    size = 1
    while True:
        chunk = generation.take(size)
        assert len(chunk.token_ids) <= size
        pieces += chunk.token_ids
        size = size % 3 + 1
        if chunk.finish_reason:
            break
    assert pieces == whole
    assert generation.count == len(whole)


async def test_other_prompts_and_other_seeds_give_other_answers(writer: "Writer") -> None:
    async def answer(prompt: str, seed: int | None = None) -> tuple[int, ...]:
        return tuple((await writer.start(prompt, sampling={"seed": seed})).take(10_000).token_ids)

    assert len({await answer(THINKING.format(index)) for index in range(5)}) == 5
    assert len({await answer(THINKING.format(0), seed) for seed in range(5)}) == 5
    assert await answer(THINKING.format(0), 3) == await answer(THINKING.format(0), 3)


async def test_a_user_s_turn_calls_the_tool_and_a_result_s_turn_answers(writer: "Writer") -> None:
    for index in range(10):
        call = writer.text(
            (await writer.start(THINKING.format(index), guided=tag(REASONING, AUTO))).take(999).token_ids
        )
        text = writer.text((await writer.start(RESULT.format(index), guided=tag(REASONING, AUTO))).take(999).token_ids)
        assert "</think>" in call
        assert call.endswith("</tool_call><|observation|>")
        assert "<tool_call>" not in text.split("</think>")[1]


async def test_forced_calls_are_short_and_written_with_marker_tokens(writer: "Writer") -> None:
    for index in range(20):
        for temperature in (0.0, 1.0):
            generation = await writer.start(
                RESULT.format(index), guided=tag(REASONING, CALL), sampling={"temperature": temperature}
            )
            chunk = generation.take(10_000)
            assert chunk.finish_reason == "stop"
            assert len(chunk.token_ids) < 150
            parts = [Part(writer.vocabulary.parts[token]) for token in chunk.token_ids]
            text = writer.text(chunk.token_ids)
            assert parts.count(Part.ARG_VALUE) == parts.count(Part.END_ARG_VALUE) == text.count("<arg_value>") >= 2


async def test_the_tag_describes_the_reasoning_and_a_bare_grammar_has_none(writer: "Writer") -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    content = {"type": "json_schema", "json_schema": schema}
    tagged = (await writer.start(THINKING.format(0), guided=tag(REASONING, content))).take(999).token_ids[:-1]
    reasoning, answer = writer.text(tagged).split("</think>")
    assert reasoning
    jsonschema.validate(json.loads(answer), schema)
    bare = (await writer.start(THINKING.format(0), guided={"json": schema})).take(999).token_ids[:-1]
    jsonschema.validate(json.loads(writer.text(bare)), schema)


NODE = {"$ref": "#/$defs/node"}
HARD: dict[str, dict[str, Any]] = {
    "recursive": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"value": {"type": "number"}, "children": {"type": "array", "items": NODE}},
                "required": ["value", "children"],
            }
        },
    },
    "recursive choice": {
        "$ref": "#/$defs/rule",
        "$defs": {
            "rule": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/rule"}, "minItems": 1}},
                        "required": ["all"],
                        "additionalProperties": False,
                    },
                    {
                        "type": "object",
                        "properties": {"not": {"$ref": "#/$defs/rule"}},
                        "required": ["not"],
                        "additionalProperties": False,
                    },
                    {
                        "type": "object",
                        "properties": {"field": {"type": "string"}},
                        "required": ["field"],
                        "additionalProperties": False,
                    },
                ]
            }
        },
    },
    "wide": {
        "type": "object",
        "properties": {f"number_{index}": {"type": "number"} for index in range(30)},
        "required": [f"number_{index}" for index in range(30)],
    },
    "open": {"type": "object", "additionalProperties": True},
    "patterns": {
        "type": "object",
        "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
            "word": {"type": "string", "pattern": "^[a-z]+$"},
            "mail": {"type": "string", "format": "email"},
            "when": {"type": "string", "format": "date-time"},
        },
        "required": ["code", "word", "mail", "when"],
    },
    "long": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 20},
}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("name", HARD)
async def test_every_value_ends(writer: "Writer", name: str, temperature: float) -> None:
    for index in range(5):
        generation = await writer.start(
            PLAIN.format(index), guided={"json": HARD[name]}, sampling={"temperature": temperature}
        )
        chunk = generation.take(1500)
        assert chunk.finish_reason == "stop", writer.text(chunk.token_ids)
        jsonschema.validate(json.loads(writer.text(chunk.token_ids[:-1])), HARD[name])


@pytest.mark.parametrize("regex", ["[a-z]+", "(ab)+", "[0-9]+", "a[0-9]*b", ".*", "[^a]+x", "[0-9]{400}"])
async def test_every_regex_ends(writer: "Writer", regex: str) -> None:
    for index in range(5):
        chunk = (await writer.start(PLAIN.format(index), guided={"regex": regex})).take(1000)
        assert chunk.finish_reason == "stop"


async def test_max_tokens_cuts_with_length(writer: "Writer") -> None:
    chunk = (await writer.start(stop={"max_tokens": 3})).take(100)
    assert (len(chunk.token_ids), chunk.finish_reason) == (3, "length")


async def test_ignore_eos_goes_on_to_max_tokens(writer: "Writer") -> None:
    chunk = (await writer.start(stop={"max_tokens": 500, "ignore_eos": True})).take(1000)
    assert (len(chunk.token_ids), chunk.finish_reason) == (500, "length")
    assert not writer.vocabulary.end_ids & set(chunk.token_ids)


async def test_min_tokens_holds_back_the_end(writer: "Writer") -> None:
    free = [(await writer.start(PLAIN.format(index))).take(999) for index in range(10)]
    assert min(len(chunk.token_ids) for chunk in free) < 60
    for index in range(10):
        chunk = (await writer.start(PLAIN.format(index), stop={"min_tokens": 60})).take(999)
        assert len(chunk.token_ids) >= 60
        assert chunk.finish_reason == "stop"


async def test_a_complete_grammar_ends_whatever_the_stop_conditions_say(writer: "Writer") -> None:
    for stop in ({"min_tokens": 50}, {"ignore_eos": True}):
        chunk = (await writer.start(PLAIN.format(0), guided={"choice": ["yes"]}, stop=stop)).take(100)
        assert chunk.finish_reason == "stop"
        assert writer.text(chunk.token_ids[:-1]) == "yes"


async def test_a_stop_token_ends_the_answer_and_is_its_last_token(writer: "Writer") -> None:
    whole = (await writer.start()).take(999).token_ids
    for stop in ({"stop_token_ids_hidden": [whole[4]]}, {"stop_token_ids": [whole[4]]}):
        chunk = (await writer.start(stop=stop)).take(999)
        assert chunk.finish_reason == "stop"
        assert chunk.token_ids == whole[: whole.index(whole[4]) + 1]


async def test_a_stop_string_over_several_tokens_ends_the_answer(writer: "Writer") -> None:
    whole = (await writer.start()).take(999).token_ids
    stop = writer.text(whole[2:5])[1:-1]
    chunk = (await writer.start(stop={"stop": ["never written", stop]})).take(999)
    assert chunk.finish_reason == "stop"
    assert chunk.token_ids == whole[:5]


async def test_log_probabilities_are_the_model_s_own_with_and_without_a_grammar(writer: "Writer") -> None:
    free = (await writer.start(logprobs=3)).take(5)
    assert len(free.log_probs) == len(free.top_logprobs) == 5
    for token, chosen, top in zip(free.token_ids, free.log_probs, free.top_logprobs, strict=True):
        logprobs = [entry["logprob"] for entry in top]
        assert logprobs == sorted(logprobs, reverse=True)
        assert sum(map(math.exp, logprobs)) <= 1 + 1e-9
        assert next(entry["logprob"] for entry in top if entry["token_id"] == token) == chosen
    forced = (await writer.start(guided={"choice": ["zzz"]}, logprobs=1)).take(1)
    assert forced.log_probs[0] < -5
    assert (await writer.start(logprobs=0)).take(2).top_logprobs == []
    assert (await writer.start()).take(2).log_probs == []
