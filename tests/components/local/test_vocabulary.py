import json
from pathlib import Path

import numpy as np
import pytest

from components.local import vocabulary as vocabularies
from components.local.vocabulary import ModelError, Part, Vocabulary


def part(vocabulary: Vocabulary, text: str) -> Part:
    return Part(vocabulary.parts[vocabulary.data.index(text.encode())])


def test_the_bytes_of_all_tokens_join_to_the_text(vocabulary: Vocabulary) -> None:
    text = "<think>Grüße, 世界 🙂\n</think><tool_call>f</tool_call>"
    ids = vocabulary.tokenizer.encode(text, add_special_tokens=False).ids
    assert b"".join(vocabulary.data[index] for index in ids).decode() == text


def test_all_bytes_are_tokens(vocabulary: Vocabulary) -> None:
    assert {bytes([byte]) for byte in range(256)} <= set(vocabulary.data)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" the", Part.WORD),
        ("The", Part.TEXT),
        ("@", Part.SIGN),
        ("42", Part.DIGIT),
        (" ", Part.SPACE),
        ('"', Part.QUOTE),
        ('":', Part.QUOTE),
        ('",', Part.QUOTE_COMMA),
        (",", Part.COMMA),
        ('{"', Part.OPEN),
        ('[{"', Part.NEST),
        ("}", Part.CLOSE),
        ("\\", Part.AWKWARD),
        ("<", Part.AWKWARD),
        ("\x00", Part.AWKWARD),
        ("<|user|>", Part.END),
        ("<|system|>", Part.SPECIAL),
        ("<think>", Part.SPECIAL),
        ("</think>", Part.END_THINK),
        ("</arg_value>", Part.END_ARG_VALUE),
    ],
)
def test_each_token_has_its_part(vocabulary: Vocabulary, text: str, expected: Part) -> None:
    assert part(vocabulary, text) is expected


def test_half_a_character_is_awkward(vocabulary: Vocabulary) -> None:
    assert vocabulary.parts[vocabulary.data.index(b"\xc3")] == Part.AWKWARD


def test_the_ends_are_the_three_that_end_a_turn(vocabulary: Vocabulary) -> None:
    assert {vocabulary.texts[index] for index in vocabulary.end_ids} == {"<|endoftext|>", "<|user|>", "<|observation|>"}
    assert set(np.flatnonzero(vocabulary.parts == Part.END)) == vocabulary.end_ids


def test_a_missing_tokenizer_names_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"tokenizer\.json does not exist; make it with: python -m components"):
        vocabularies.load(tmp_path)


def test_a_tokenizer_without_glm_s_markers_is_refused(model_path: Path, tmp_path: Path) -> None:
    tokenizer = json.loads((model_path / "tokenizer.json").read_text())
    tokenizer["added_tokens"] = [entry for entry in tokenizer["added_tokens"] if entry["content"] != "<arg_key>"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ModelError, match="lacks GLM's added tokens <arg_key>"):
        vocabularies.load(tmp_path)
