"""A model with real weights, from its folder, and a text for it to read."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import AutoConfig, GlmMoeDsaForCausalLM
from transformers.utils import logging

from components.kvcache.rows import LATENT_VALUES, ROPE_VALUES

_MODEL_TYPE: Final = "glm_moe_dsa"
_LEAST_WEIGHT_BYTES: Final = 2


def load_model(folder: Path) -> Any:
    """Return the model of a folder, on the GPUs if there are any (with `accelerate`, on all of them).

    Raises:
        ValueError: There is none, or its rows are not those of this project.
    """
    if not (folder / "config.json").is_file():
        raise ValueError("there is no config.json: give the folder of a checkpoint")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        _check(AutoConfig.from_pretrained(folder, local_files_only=True))
        spread = {"device_map": "auto"} if find_spec("accelerate") and torch.cuda.is_available() else {}
        model, loaded = GlmMoeDsaForCausalLM.from_pretrained(
            folder, local_files_only=True, dtype="auto", output_loading_info=True, **spread
        )
    except Exception as error:  # Of a broken checkpoint transformers raises whatever it trips over.
        raise ValueError(_line(error)) from error
    # transformers makes up what a checkpoint lacks, and the figures would be about that.
    if missing := sorted(loaded["missing_keys"]):
        first, others = missing[0], len(missing) - 1
        raise ValueError(f"it lacks {first} and {others:,} others: give the folder of a whole checkpoint")
    if model.model.layers[0].self_attn.kv_b_proj.weight.element_size() < _LEAST_WEIGHT_BYTES:
        raise ValueError("its kv_b_proj is quantized, and is needed as it is: give the BF16 checkpoint")
    return model.eval()


def text_tokens(folder: Path, text: str, tokens: int) -> Tensor:
    """Return the first tokens of a text, by the model's own tokenizer.

    Raises:
        ValueError: There is no tokenizer, it is none, or the text is too short.
    """
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ValueError(f"there is no {path.name} in {folder}: give the folder of a whole checkpoint")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # The library has no narrower one.
        raise ValueError(f"{path} is no tokenizer: {_line(error)}") from error
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    if len(ids) < tokens:
        raise ValueError(
            f"it has {len(ids):,} tokens where {tokens:,} are needed: give a longer one, or less --context"
        )
    return torch.tensor(ids[:tokens])


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _check(config: Any) -> None:
    if config.model_type != _MODEL_TYPE:
        raise ValueError(f"its architecture is {config.model_type}: give a checkpoint of {_MODEL_TYPE}")
    if (config.kv_lora_rank, config.qk_rope_head_dim) != (LATENT_VALUES, ROPE_VALUES):
        raise ValueError(
            f"it caches {config.kv_lora_rank} + {config.qk_rope_head_dim} values a token, and KV rows have "
            f"{LATENT_VALUES} + {ROPE_VALUES}"
        )
