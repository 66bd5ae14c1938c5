import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from components.local import markers
from components.peers.dynamo_model import make_tokenizer, write_model


@pytest.mark.parametrize("text", ["plain", "é\u2028\U0001f600", " \t\n\r\n  ", "</arg_valu", "\x00\x7f"])
def test_every_byte_is_a_token(text: str) -> None:
    tokenizer = make_tokenizer()

    ids = tokenizer.encode(text, add_special_tokens=False).ids

    assert len(ids) == len(text.encode())
    assert tokenizer.decode(ids, skip_special_tokens=False) == text


@pytest.mark.parametrize("marker", [*markers.SPECIAL, *markers.STRUCTURE])
def test_a_marker_is_one_token_wherever_it_stands(marker: str) -> None:
    tokenizer = make_tokenizer()

    ids = tokenizer.encode(f"x{marker} y", add_special_tokens=False).ids

    assert len(ids) == 4
    # What is skipped would never reach a parser.
    assert (marker in tokenizer.decode(ids, skip_special_tokens=True)) == (marker in markers.STRUCTURE)


def test_the_folder_holds_what_the_frontend_reads(tmp_path: Path) -> None:
    tokenizer = make_tokenizer()

    write_model(tmp_path, tokenizer)

    assert Tokenizer.from_file(str(tmp_path / "tokenizer.json")).get_vocab() == tokenizer.get_vocab()
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["vocab_size"] == 256 + len(markers.SPECIAL) + len(markers.STRUCTURE)
    assert tokenizer.id_to_token(config["eos_token_id"][0]) == markers.END_OF_TEXT
