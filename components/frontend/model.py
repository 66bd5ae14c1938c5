"""What the frontend reads of a model's folder: tokenizer, chat template, end tokens, context length."""

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from components.frontend.detokenization import TokenBytes
from components.frontend.template import ChatTemplate
from components.frontend.tokenization import PromptTokenizer

SPECIAL_VARIABLES = ("bos_token", "eos_token", "pad_token", "unk_token")


class ModelFolderError(ValueError):
    """A file the frontend needs is missing from the model's folder, or says too little."""


class ServedModel:
    """A model as the frontend serves it.

    Args:
        folder: Holds ``tokenizer.json``, ``tokenizer_config.json``, a chat template and ``config.json``.
        name: The name clients send.
        context_length: Most tokens of prompt and answer; 0 takes ``max_position_embeddings`` of ``config.json``.

    Raises:
        ModelFolderError: If a file is missing or names no end token.
        UnsupportedTokenizerError: If the tokenizer is no byte-level BPE.
    """

    def __init__(self, folder: Path, name: str, context_length: int = 0) -> None:
        self.name = name
        self.tokenizer = Tokenizer.from_file(str(_existing(folder / "tokenizer.json")))
        self.prompts = PromptTokenizer(self.tokenizer)
        self.token_bytes = TokenBytes(self.tokenizer)
        config = _read_json(folder / "config.json")
        tokenizer_config = _read_json(folder / "tokenizer_config.json")
        self.template = ChatTemplate(_template_source(folder, tokenizer_config), _special_variables(tokenizer_config))
        self.eos_token_ids = _eos_token_ids(folder, config)
        self.context_length = context_length or int(config.get("max_position_embeddings", 0))
        if self.context_length <= 0:
            raise ModelFolderError(
                f"{folder / 'config.json'}: max_position_embeddings is missing: set --context-length"
            )
        self.think_end_id = self.tokenizer.token_to_id("</think>")


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise ModelFolderError(f"{path} is missing: point the model path at a complete Hugging Face folder")
    return path


def _read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(_existing(path).read_text())
    return content


def _template_source(folder: Path, tokenizer_config: dict[str, Any]) -> str:
    file = folder / "chat_template.jinja"
    if file.is_file():
        return file.read_text()
    template = tokenizer_config.get("chat_template")
    if isinstance(template, list):
        template = next((entry["template"] for entry in template if entry["name"] == "default"), None)
    if not template:
        raise ModelFolderError(f"{folder} holds no chat template: add chat_template.jinja from the model's repository")
    return str(template)


def _special_variables(tokenizer_config: dict[str, Any]) -> dict[str, str]:
    values = {name: tokenizer_config.get(name) for name in SPECIAL_VARIABLES}
    texts = {name: value["content"] if isinstance(value, dict) else value for name, value in values.items()}
    return {name: text for name, text in texts.items() if text is not None}


def _eos_token_ids(folder: Path, config: dict[str, Any]) -> list[int]:
    generation = folder / "generation_config.json"
    listed = (_read_json(generation) if generation.is_file() else {}).get("eos_token_id", config.get("eos_token_id"))
    if listed is None:
        raise ModelFolderError(f"{folder}: neither generation_config.json nor config.json has eos_token_id")
    return [listed] if isinstance(listed, int) else [int(id_) for id_ in listed]
