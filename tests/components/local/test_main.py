import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import openai
import pytest

if TYPE_CHECKING:
    from tests.components.local.conftest import Processes

NAME = "stand-in"


@pytest.fixture(scope="module")
def client(processes: "Processes", port: int, model_path: Path) -> openai.OpenAI:
    """A client of Dynamo's own frontend, over its mocker as the prefill worker and one decoder."""
    model = ["--model-path", model_path, "--model-name", NAME]
    prefill = ["--disaggregation-mode", "prefill", "--data-parallel-size", 8, "--block-size", 64]
    processes.start("dynamo.mocker", *model, *prefill, "--speedup-ratio", 100)
    processes.start("components.local", *model, "--inter-token-latency-ms", 5)
    processes.start("dynamo.frontend", "--http-host", "127.0.0.1", "--http-port", port, "--router-mode", "kv")
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0, timeout=30)
    processes.wait_until(answers(client))
    return client


def answers(client: openai.OpenAI) -> Callable[[], bool]:
    def ask() -> bool:
        try:
            say(client, "Hello", max_tokens=1)
        except openai.APIError:
            return False
        return True

    return ask


def say(client: openai.OpenAI, text: str, **options: Any) -> Any:
    return client.chat.completions.create(model=NAME, messages=[{"role": "user", "content": text}], **options)


def test_a_plain_question_is_answered_with_text(client: openai.OpenAI) -> None:
    answer = say(client, "How are you?")
    content = answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert len(content.split()) > 5
    assert "\N{REPLACEMENT CHARACTER}" not in content
    assert answer.usage.completion_tokens > 5


def test_a_schema_is_kept(client: openai.OpenAI) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"enum": ["a", "b"]}}},
        "required": ["name", "tags"],
        "additionalProperties": False,
    }
    for text in ("One", "Two", "Three"):
        form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
        answer = say(client, text, response_format=form)
        assert answer.choices[0].finish_reason == "stop"
        jsonschema.validate(json.loads(answer.choices[0].message.content), schema)


def test_a_bad_schema_is_the_client_s_mistake(client: openai.OpenAI) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "strin"}}}
    with pytest.raises(openai.BadRequestError, match="Unsupported type"):
        say(client, "Hello", response_format=form)


def test_a_history_with_calls_and_results_goes_through_dynamo_s_own_template_engine(client: openai.OpenAI) -> None:
    function: Any = {
        "name": "f",
        "description": "<&>",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    }
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Call it."}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "one"},
    ]
    answer = client.chat.completions.create(
        model=NAME, messages=messages, tools=[{"type": "function", "function": function}], tool_choice="none"
    )
    assert answer.choices[0].finish_reason == "stop"


def test_log_probabilities_reach_the_client(client: openai.OpenAI) -> None:
    answer = say(client, "Hello", logprobs=True, top_logprobs=2, max_tokens=4)
    tokens = answer.choices[0].logprobs.content
    assert "".join(token.token for token in tokens) == answer.choices[0].message.content
    assert all(token.logprob <= 0 and len(token.top_logprobs) >= 2 for token in tokens)


def test_a_terminated_decoder_finishes_its_answers_and_exits_cleanly(
    client: openai.OpenAI, processes: "Processes"
) -> None:
    decoder = processes.running("components.local")
    stream = say(client, "Hello", stream=True, max_tokens=100, extra_body={"ignore_eos": True})
    first = next(iter(stream))
    assert first.choices[0].finish_reason is None
    terminate = threading.Thread(target=os.kill, args=(decoder.pid, signal.SIGTERM))
    terminate.start()
    rest = list(stream)
    terminate.join()
    assert rest[-1].choices[0].finish_reason == "length"
    assert decoder.wait(timeout=10) == 0


def test_discovery_that_cannot_be_reached_is_one_line(model_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "components.local", "--model-path", model_path, "--model-name", "m"],
        env=os.environ | {"DYN_DISCOVERY_BACKEND": "kubernetes"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("components.local: cannot start with --discovery-backend kubernete")
    assert "Traceback" not in ended.stderr


def test_a_folder_without_a_tokenizer_is_one_line(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "components.local", "--model-path", tmp_path, "--model-name", "m"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"components.local: {tmp_path / 'tokenizer.json'} does not exist; make it with: ")
    assert len(ended.stderr.splitlines()) == 1
