from typing import Any

import pytest

from components.local import markers
from components.peers.dynamo_model import make_tokenizer
from components.peers.dynamo_worker import ScriptedWorker, question
from components.peers.protocol import Mode
from toolcall.conformance import Case

TOKENIZER = make_tokenizer()
CASES = (Case(output="no"), Case(output="ok<tool_call>"), Case(output="cut", engine_finish="length"), Case())
END = TOKENIZER.token_to_id(markers.END_OF_TEXT)


async def outputs(index: int, mode: Mode) -> list[dict[str, Any]]:
    prompt = f"[gMASK]<sop><|user|>{question(index, mode)}<|assistant|><think>"
    ids = TOKENIZER.encode(prompt, add_special_tokens=False).ids
    return [output async for output in ScriptedWorker(TOKENIZER, CASES).generate({"token_ids": ids})]


async def test_a_stream_is_a_token_a_chunk() -> None:
    *chunks, end = await outputs(1, "streamed")

    said = [TOKENIZER.decode(chunk["token_ids"], skip_special_tokens=False) for chunk in chunks]
    assert said == ["o", "k", "<tool_call>"]
    assert end == {"token_ids": [END], "finish_reason": "stop"}


async def test_an_answer_to_be_read_whole_is_one_chunk() -> None:
    (chunk, end) = await outputs(2, "whole")

    assert TOKENIZER.decode(chunk["token_ids"]) == "cut"
    # The limit cuts before an end token.
    assert end == {"token_ids": [], "finish_reason": "length"}


@pytest.mark.parametrize("mode", ["whole", "streamed"])
async def test_an_empty_output_is_only_an_end(mode: Mode) -> None:
    assert await outputs(3, mode) == [{"token_ids": [END], "finish_reason": "stop"}]


async def test_a_prompt_that_asks_for_nothing_is_an_error() -> None:
    worker = ScriptedWorker(TOKENIZER, CASES)
    with pytest.raises(ValueError, match="asks for no case"):
        await anext(aiter(worker.generate({"token_ids": TOKENIZER.encode("<|user|>hello").ids})))
