import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from dynamo.llm.exceptions import InvalidArgument
from dynamo.runtime import Context

from components.local.args import parser
from components.local.worker import Decoder


def decoder(model_path: Path, *options: str) -> Decoder:
    arguments = ["--model-path", str(model_path), "--model-name", "m", "--inter-token-latency-ms", "0", *options]
    return Decoder(parser().parse_args(arguments))


async def answer(decoder: Decoder, context: Context | None = None, **raw: Any) -> list[dict[str, Any]]:
    return [output async for output in decoder.generate({"token_ids": [300, 301], **raw}, context or Context())]


async def test_the_last_output_has_the_reason_and_the_usage(model_path: Path) -> None:
    details = {"cached_tokens": 2}
    outputs = await answer(decoder(model_path), prefill_result={"prompt_tokens_details": details})
    written = sum(len(output["token_ids"]) for output in outputs)
    assert [output for output in outputs if "finish_reason" in output] == outputs[-1:]
    assert outputs[-1]["finish_reason"] == "stop"
    assert outputs[-1]["completion_usage"] == {
        "prompt_tokens": 2,
        "completion_tokens": written,
        "total_tokens": 2 + written,
        "prompt_tokens_details": details,
    }
    assert all(output["index"] == 0 and "log_probs" not in output for output in outputs)


async def test_log_probabilities_go_with_their_tokens(model_path: Path) -> None:
    for output in await answer(decoder(model_path), output_options={"logprobs": 2}):
        assert len(output["token_ids"]) == len(output["log_probs"]) == len(output["top_logprobs"])


async def test_tokens_come_at_their_pace_without_drift(model_path: Path) -> None:
    slow = decoder(model_path, "--inter-token-latency-ms", "10")
    started = time.monotonic()
    outputs = await answer(slow, stop_conditions={"max_tokens": 30, "ignore_eos": True})
    seconds = time.monotonic() - started
    assert sum(len(output["token_ids"]) for output in outputs) == 30
    assert 0.28 < seconds < 5


async def test_a_stopped_request_ends_at_its_next_step_with_what_was_written(model_path: Path) -> None:
    context = Context()
    stream = decoder(model_path, "--inter-token-latency-ms", "1").generate(
        {"token_ids": [300], "stop_conditions": {"max_tokens": 10_000, "ignore_eos": True}}, context
    )
    written = 0
    async for output in stream:
        written += len(output["token_ids"])
        last = output
        if written >= 3:
            context.stop_generating()
    assert last["finish_reason"] == "cancelled"
    assert last["completion_usage"]["completion_tokens"] == written < 100


@pytest.mark.parametrize(
    "raw",
    [
        {"sampling_options": {"guided_decoding": {"json": {"type": "strin"}}}},
        {"sampling_options": {"temperature": -1}},
        {"token_ids": [1] * 300},
    ],
)
async def test_a_request_that_cannot_be_served_is_the_client_s_mistake(model_path: Path, raw: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        await answer(decoder(model_path, "--max-model-len", "256"), **raw)


async def test_no_more_requests_decode_at_once_than_allowed(model_path: Path) -> None:
    slow = decoder(model_path, "--max-num-seqs", "1", "--inter-token-latency-ms", "5")
    stop = {"max_tokens": 10, "ignore_eos": True}
    ended: list[float] = []

    async def one() -> None:
        await answer(slow, stop_conditions=stop)
        ended.append(time.monotonic())

    await asyncio.gather(one(), one())
    assert ended[1] - ended[0] > 0.04
