import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from components.local import markers
from components.local.model import make_model


@pytest.fixture(scope="module")
def tokenizer(model_path: Path) -> Any:
    return AutoTokenizer.from_pretrained(model_path)


def render(tokenizer: Any, messages: list[dict[str, Any]], **options: Any) -> str:
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options))


USER = {"role": "user", "content": "Hi"}


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        subprocess.run([sys.executable, "-m", "components.local.model", tmp_path / name], check=True)
    written = sorted((tmp_path / "first").iterdir())
    assert [path.name for path in written] == [
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    for path in written:
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()


def test_making_it_is_cheap_enough_for_every_start(tmp_path: Path) -> None:
    before = time.process_time()
    make_model(tmp_path)
    assert time.process_time() - before < 0.5


def test_the_context_length_is_told_where_it_is_looked_for(tmp_path: Path) -> None:
    make_model(tmp_path, context_length=4096)
    assert json.loads((tmp_path / "config.json").read_text())["max_position_embeddings"] == 4096
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["model_max_length"] == 4096


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = subprocess.run(
        [sys.executable, "-m", "components.local.model", tmp_path / "file"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr == f"components.local.model: cannot write {tmp_path / 'file'}: File exists\n"


def test_the_vocabulary_is_words_then_glm_s_added_tokens(model_path: Path) -> None:
    tokenizer = Tokenizer.from_file(str(model_path / "tokenizer.json"))
    added = tokenizer.get_added_tokens_decoder()
    assert min(added) == 3000
    assert [added[index].content for index in sorted(added)] == [*markers.SPECIAL, *markers.STRUCTURE, markers.NO_THINK]


def test_the_ends_of_a_turn_are_in_both_configurations(model_path: Path) -> None:
    tokenizer = Tokenizer.from_file(str(model_path / "tokenizer.json"))
    ends = [tokenizer.token_to_id(text) for text in ("<|endoftext|>", "<|user|>", "<|observation|>")]
    for name in ("config.json", "generation_config.json"):
        assert json.loads((model_path / name).read_text())["eos_token_id"] == ends


def test_the_ids_that_dynamo_s_mocker_makes_up_are_text(tokenizer: Any) -> None:
    texts = [tokenizer.decode([index]) for index in range(1000, 2000)]
    assert all(text.isascii() and text for text in texts)
    assert sum(text.strip().isalpha() for text in texts) > 900


@pytest.mark.parametrize("text", ["Grüße, 世界 🙂\r\n\t x  y", "a\u2028b", "I'll 'RE 1234567 <b>&lt;</b>", "  \n\n  "])
def test_any_text_survives(tokenizer: Any, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text


def test_skipping_special_tokens_leaves_the_structure(tokenizer: Any) -> None:
    structure = "".join(markers.STRUCTURE)
    ids = tokenizer.encode("[gMASK]<sop><|user|>" + structure + "<|observation|>", add_special_tokens=False)
    assert tokenizer.decode(ids, skip_special_tokens=True) == structure
    assert len(ids) == len(markers.STRUCTURE) + 4


def test_words_of_the_corpus_are_single_tokens(tokenizer: Any) -> None:
    assert tokenizer.tokenize("The tests pass now.") == ["The", "Ġtests", "Ġpass", "Ġnow", "."]


def test_the_prompt_opens_the_reasoning_and_names_the_effort(tokenizer: Any) -> None:
    prompt = render(tokenizer, [USER])
    assert prompt == "[gMASK]<sop><|system|>Reasoning Effort: Max<|user|>Hi<|assistant|><think>"
    for effort, shown in (("low", "Low"), ("high", "High"), ("max", "Max"), ("medium", "Max")):
        assert f"<|system|>Reasoning Effort: {shown}<|user|>" in render(tokenizer, [USER], reasoning_effort=effort)


def test_without_thinking_the_prompt_closes_the_reasoning(tokenizer: Any) -> None:
    assert render(tokenizer, [USER], enable_thinking=False) == "[gMASK]<sop><|user|>Hi<|assistant|></think>"


def test_tools_are_listed_as_json_without_the_keys_for_the_server(tokenizer: Any) -> None:
    function = {"name": "f", "description": "größer <b> & 'c'", "parameters": {"type": "object"}}
    tool = {"type": "function", "function": {**function, "strict": True, "defer_loading": False}}
    prompt = render(tokenizer, [USER], tools=[tool, {**function, "name": "bare"}])
    block = prompt.split("<tools>\n")[1].split("</tools>")[0].splitlines()
    assert [json.loads(line) for line in block] == [function, {**function, "name": "bare"}]
    assert "größer <b> & 'c'" in block[0]


def test_calls_render_strings_raw_and_everything_else_as_json(tokenizer: Any) -> None:
    arguments = {"s": "<a>&\n", "n": 1, "items": [1, "ü"], "null": None}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "f", "arguments": arguments}}],
    }
    assert render(tokenizer, [USER, message]).split("<|user|>Hi")[1] == (
        "<|assistant|><think></think><tool_call>f"
        "<arg_key>s</arg_key><arg_value><a>&\n</arg_value>"
        "<arg_key>n</arg_key><arg_value>1</arg_value>"
        '<arg_key>items</arg_key><arg_value>[1, "ü"]</arg_value>'
        "<arg_key>null</arg_key><arg_value>null</arg_value></tool_call><|assistant|><think>"
    )


@pytest.mark.parametrize(("arguments", "shown"), [("", ""), ("{}", ""), ('{"a": 1}', '{"a": 1}')])
def test_arguments_that_nobody_decoded_are_shown_as_they_are(tokenizer: Any, arguments: str, shown: str) -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}
    assert f"<tool_call>f{shown}</tool_call>" in render(tokenizer, [USER, message])


def test_results_of_a_run_share_one_observation_in_the_order_of_the_calls(tokenizer: Any) -> None:
    calls: list[Any] = [{"id": name, "function": {"name": name, "arguments": {}}} for name in ("a", "b")]
    results: list[Any] = [
        {
            "role": "tool",
            "tool_call_id": "b",
            "content": [{"type": "text", "text": "B"}, {"type": "text", "text": "2"}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "A"},
    ]
    prompt = render(tokenizer, [USER, {"role": "assistant", "content": "", "tool_calls": calls}, *results])
    assert "<|observation|><tool_response>A</tool_response><tool_response>B2</tool_response><|assistant|>" in prompt


@pytest.mark.parametrize("ids", [("b", "x"), ("b", "b"), (None, None)])
def test_results_that_do_not_match_the_calls_stay_as_they_came(tokenizer: Any, ids: tuple[str | None, ...]) -> None:
    calls: list[Any] = [{"id": name, "function": {"name": name, "arguments": {}}} for name in ("a", "b")]
    results = [{"role": "tool", "content": text, "tool_call_id": found} for text, found in zip("BA", ids, strict=True)]
    prompt = render(tokenizer, [USER, {"role": "assistant", "content": "", "tool_calls": calls}, *results])
    assert "<tool_response>B</tool_response><tool_response>A</tool_response>" in prompt


def test_reasoning_of_earlier_turns_is_kept_unless_it_is_to_be_cleared(tokenizer: Any) -> None:
    history = [USER, {"role": "assistant", "reasoning_content": "Because.", "content": " Yes. "}, USER]
    assert "<|assistant|><think>Because.</think>Yes.<|user|>" in render(tokenizer, history)
    assert "<|assistant|><think></think>Yes.<|user|>" in render(tokenizer, history, clear_thinking=True)


def test_reasoning_inside_the_content_is_found(tokenizer: Any) -> None:
    history = [USER, {"role": "assistant", "content": "<think>Because.</think>Yes."}]
    assert "<|assistant|><think>Because.</think>Yes.<|assistant|>" in render(tokenizer, history)


def test_system_and_developer_messages_are_the_system_s(tokenizer: Any) -> None:
    messages = [{"role": "system", "content": "One."}, {"role": "developer", "content": "Two."}, USER]
    assert "<|system|>One.<|system|>Two.<|user|>Hi" in render(tokenizer, messages)
