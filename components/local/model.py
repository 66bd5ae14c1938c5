"""Makes the stand-in model: a folder with a GLM-format tokenizer, chat template and configuration, and no weights.

Usage: `python -m components.local.model FOLDER`
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from components.local import corpus, markers

_BASE_VOCABULARY = 3000
# GLM-4's, which is cl100k's.
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_TEMPLATE = Path(__file__).with_name("chat_template.jinja")


def make_model(folder: Path, *, context_length: int = 262144) -> None:
    """Write the stand-in model's folder: the same bytes on every call.

    Byte-level BPE of 3,000 entries trained on the corpus beside this file, then GLM's added tokens in GLM's order. It
    loads in `transformers.AutoTokenizer`, Dynamo's frontend and Dynamo's mocker, whose made-up answers are ids of
    1000 to 1999: here those are words.

    Args:
        folder: Made if missing; files of the same names are replaced.
        context_length: Longest prompt and answer together, in tokens.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _train()
    (folder / "tokenizer.json").write_text(tokenizer.to_str(pretty=True), encoding="utf-8")
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(context_length))
    ids = tokenizer.get_vocab()
    end_ids = [ids[token] for token in markers.END_TOKENS]
    _write_json(folder / "config.json", _config(tokenizer.get_vocab_size(), end_ids, context_length))
    _write_json(folder / "generation_config.json", {"eos_token_id": end_ids, "pad_token_id": end_ids[0]})
    shutil.copyfile(_TEMPLATE, folder / "chat_template.jinja")


def _train() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(_WORDS), behavior="isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, to_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_BASE_VOCABULARY,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_plain_text(), trainer)
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in markers.SPECIAL])
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in markers.STRUCTURE])
    tokenizer.add_special_tokens([AddedToken(markers.NO_THINK, special=True, normalized=False)])
    return tokenizer


def _plain_text() -> Iterator[str]:
    added = re.compile("|".join(map(re.escape, (*markers.SPECIAL, *markers.STRUCTURE))))
    for turn in corpus.turns():
        yield from filter(None, added.split(turn))
    yield corpus.words()


def _tokenizer_config(context_length: int) -> dict[str, Any]:
    return {
        "clean_up_tokenization_spaces": False,
        "eos_token": markers.END_OF_TEXT,
        "extra_special_tokens": [text for text in markers.SPECIAL if text != markers.END_OF_TEXT],
        "model_max_length": context_length,
        "pad_token": markers.END_OF_TEXT,
        "padding_side": "left",
        "tokenizer_class": "PreTrainedTokenizerFast",
    }


def _config(vocabulary: int, end_ids: list[int], context_length: int) -> dict[str, Any]:
    # Readers of a model folder want an architecture and its sizes; there are no weights behind these.
    return {
        "architectures": ["Glm4ForCausalLM"],
        "model_type": "glm4",
        "dtype": "bfloat16",
        "eos_token_id": end_ids,
        "head_dim": 16,
        "hidden_size": 64,
        "intermediate_size": 128,
        "max_position_embeddings": context_length,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "num_key_value_heads": 1,
        "pad_token_id": end_ids[0],
        "vocab_size": vocabulary,
    }


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Make the folder named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m components.local.model", description="Make the stand-in model.")
    parser.add_argument("folder", type=Path, help="Where the model's files are written.")
    parser.add_argument("--context-length", type=int, default=262144, help="In tokens.")
    args = parser.parse_args()
    try:
        make_model(args.folder, context_length=args.context_length)
    except OSError as error:
        sys.exit(f"components.local.model: cannot write {args.folder}: {error.strerror}")


if __name__ == "__main__":
    main()
