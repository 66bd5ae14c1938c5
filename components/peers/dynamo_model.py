"""A model folder for Dynamo's frontend whose tokens are single bytes and GLM's markers.

Every character of an output is then a chunk of its own in a stream, and none is told apart by how it was tokenized.
"""

import json
from pathlib import Path
from typing import Any, Final

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from components.local import markers

CONTEXT_LENGTH: Final = 262_144
# The prompt ends as the case says; what stands before only says which case it is.
_TEMPLATE: Final = "[gMASK]<sop><|user|>{{ messages[-1].content }}{{ prompt_tail }}"


def make_tokenizer() -> Tokenizer:
    """Return the tokenizer: 256 bytes, then GLM's added tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={character: at for at, character in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in markers.SPECIAL])
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in markers.STRUCTURE])
    return tokenizer


def write_model(folder: Path, tokenizer: Tokenizer) -> None:
    """Write what Dynamo reads of a model folder: tokenizer, template and configuration."""
    end = tokenizer.token_to_id(markers.END_OF_TEXT)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(_TEMPLATE, encoding="utf-8")
    _write_json(folder / "generation_config.json", {"eos_token_id": [end]})
    _write_json(
        folder / "tokenizer_config.json",
        {"eos_token": markers.END_OF_TEXT, "tokenizer_class": "PreTrainedTokenizerFast"},
    )
    _write_json(
        folder / "config.json",
        {
            "architectures": ["Glm4ForCausalLM"],
            "model_type": "glm4",
            "eos_token_id": [end],
            "max_position_embeddings": CONTEXT_LENGTH,
            "vocab_size": tokenizer.get_vocab_size(),
        },
    )


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")
