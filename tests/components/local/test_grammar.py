import asyncio
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgrammar
from transformers import AutoTokenizer

from components.local.grammar import Compiler, GrammarError, Matcher
from components.local.vocabulary import Vocabulary

TAG = {
    "type": "structural_tag",
    "format": {
        "type": "tag",
        "begin": "<tool_call>f",
        "content": {
            "type": "json_schema",
            "style": "glm_xml",
            "json_schema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        },
        "end": "</tool_call>",
    },
}
CALL = "<tool_call>f<arg_key>a</arg_key><arg_value>7</arg_value></tool_call><|observation|>"


async def accepts(compiler: Compiler, vocabulary: Vocabulary, guided: dict[str, Any], text: str) -> bool:
    matcher = await compiler.matcher(guided)
    assert matcher is not None
    for token in vocabulary.tokenizer.encode(text, add_special_tokens=False).ids:
        if not matcher.allowed()[token]:
            return False
        matcher.accept(token)
    return True


@pytest.mark.parametrize(
    ("guided", "good", "bad"),
    [
        ({"structural_tag": TAG}, CALL, CALL.replace("7", "x")),
        ({"structural_tag": json.dumps(TAG)}, CALL, CALL.replace("f<", "g<")),
        ({"json": {"type": "integer"}}, "12<|user|>", "twelve"),
        ({"json": '{"type": "boolean"}'}, "true<|user|>", "maybe"),
        ({"regex": "[ab]+"}, "abba<|user|>", "abc"),
        ({"choice": ["yes", 'a "b" \\ ü']}, 'a "b" \\ ü<|user|>', "no"),
        ({"grammar": 'root ::= "x" [0-9]+'}, "x12<|user|>", "y"),
    ],
)
async def test_each_kind_of_grammar_binds(
    compiler: Compiler, vocabulary: Vocabulary, guided: dict[str, Any], good: str, bad: str
) -> None:
    assert await accepts(compiler, vocabulary, guided, good)
    assert not await accepts(compiler, vocabulary, guided, bad)


async def test_the_end_is_allowed_only_when_the_grammar_is_complete(compiler: Compiler, vocabulary: Vocabulary) -> None:
    assert not await accepts(compiler, vocabulary, {"regex": "ab"}, "a<|user|>")


@pytest.mark.parametrize("guided", [{}, {"json": None, "backend": "xgrammar"}])
async def test_nothing_to_constrain_is_no_matcher(compiler: Compiler, guided: dict[str, Any]) -> None:
    assert await compiler.matcher(guided) is None


@pytest.mark.parametrize(
    ("guided", "reason"),
    [
        ({"json": {"type": "strin"}}, 'guided_decoding.json: Unsupported type "strin"'),
        ({"json": "{"}, "guided_decoding.json: Failed to parse JSON"),
        ({"regex": "(["}, "guided_decoding.regex: Regex parsing error"),
        ({"structural_tag": {"x": 1}}, "guided_decoding.structural_tag: "),
        ({"grammar": "root ::="}, "guided_decoding.grammar: EBNF parser error"),
        ({"choice": []}, "guided_decoding.choice: "),
        ({"choice": 3}, "guided_decoding.choice: "),
        ({"regex": 3}, "guided_decoding.regex: has to be a string, not 3"),
        ({"grammar": ["root"]}, "guided_decoding.grammar: has to be a string"),
        # A limit of xgrammar 0.2.8, which gives no reason.
        ({"json": {"type": "string", "pattern": "^[0-9]{200}$"}}, "guided_decoding.json: Check failed: "),
    ],
)
async def test_a_bad_grammar_is_refused_with_a_reason(compiler: Compiler, guided: dict[str, Any], reason: str) -> None:
    with pytest.raises(GrammarError) as refused:
        await compiler.matcher(guided)
    assert str(refused.value).startswith(reason)
    assert "/project/cpp" not in str(refused.value)


async def test_the_masks_are_those_of_xgrammar_s_own_reading_of_the_tokenizer(
    compiler: Compiler, vocabulary: Vocabulary, model_path: Path
) -> None:
    info = xgrammar.TokenizerInfo.from_huggingface(
        AutoTokenizer.from_pretrained(model_path), stop_token_ids=sorted(vocabulary.end_ids)
    )
    theirs = xgrammar.GrammarMatcher(xgrammar.GrammarCompiler(info).compile_structural_tag(TAG))
    ours = await compiler.matcher({"structural_tag": TAG})
    assert ours is not None
    words = np.zeros((1, -(-len(vocabulary.data) // 32)), dtype=np.int32)
    for token in vocabulary.tokenizer.encode(CALL, add_special_tokens=False).ids:
        theirs.fill_next_token_bitmask(words)
        expected = np.unpackbits(words.view(np.uint8)[0], count=len(vocabulary.data), bitorder="little")
        assert (ours.allowed() == expected).all()
        ours.accept(token)
        assert theirs.accept_token(token)


async def test_a_token_outside_the_grammar_is_an_error(compiler: Compiler, vocabulary: Vocabulary) -> None:
    matcher = await compiler.matcher({"regex": "a"})
    assert isinstance(matcher, Matcher)
    with pytest.raises(RuntimeError, match="does not accept token"):
        matcher.accept(vocabulary.id("<|user|>"))


async def test_the_event_loop_runs_while_a_grammar_compiles_and_the_second_time_is_cached(
    vocabulary: Vocabulary,
) -> None:
    compiler = Compiler(vocabulary)
    properties = {f"key_{index}": {"type": "string", "pattern": "^[a-z/._]{1,100}$"} for index in range(16)}
    guided = {"json": {"type": "object", "properties": properties, "required": list(properties)}}
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.001)
            turns += 1

    counting = asyncio.create_task(count())
    started = time.monotonic()
    await compiler.matcher(guided)
    first = time.monotonic() - started
    counting.cancel()
    assert turns >= 5
    started = time.monotonic()
    await compiler.matcher(guided)
    assert time.monotonic() - started < first / 3
