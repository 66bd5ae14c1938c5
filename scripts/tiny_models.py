"""Makes the models that the miniatures serve: small, with fixed random weights, and GLM's tokenizer and chat template.

Usage: `python scripts/tiny_models.py FOLDER` writes `FOLDER/tiny-dense` and `FOLDER/tiny-mla`, 20 MB together.

They say nothing that makes sense, and what they say depends on every token of the prompt: a KV cache that holds a
wrong block changes the answer. (With vLLM's own `--load-format dummy` all prompts have the same answer.) Run it with
the engines' Python, which has torch and transformers.
"""

# ruff: noqa: INP001 - A command, and no package.

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import DeepseekV3Config, DeepseekV3ForCausalLM, LlamaConfig, LlamaForCausalLM

from components.local import markers
from components.local.model import make_model

CONTEXT = 4096
SEED = 1

SPREAD = 0.12
"""Standard deviation of the weights. Narrower, and attention is an even mean that no single token moves."""

LIKELY = 3.0
"""How much wider the last layer's rows are of tokens that end something: random weights would never stop thinking.

One of 3,023 tokens comes once in a few thousand steps; with this, reasoning, values and answers end after some tens.
"""
ENDS = (*markers.END_TOKENS, markers.END_THINK, markers.END_ARG_VALUE, markers.END_TOOL_CALL)
"""Tokens that end something."""


def dense(vocabulary: dict[str, Any]) -> LlamaForCausalLM:
    """Attention with two KV heads, as a Llama has it: 1,024 bytes of KV a token and layer."""
    config = LlamaConfig(
        **vocabulary,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        tie_word_embeddings=False,
    )
    return LlamaForCausalLM(config)


def mla(vocabulary: dict[str, Any]) -> DeepseekV3ForCausalLM:
    """Latent attention of GLM-5.3's widths, 512 and 64. Dense layers only: on CPU vLLM has no experts over ranks."""
    config = DeepseekV3Config(
        **vocabulary,
        hidden_size=256,
        intermediate_size=512,
        moe_intermediate_size=128,
        num_hidden_layers=2,
        first_k_dense_replace=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        kv_lora_rank=512,
        q_lora_rank=128,
        qk_rope_head_dim=64,
        qk_nope_head_dim=128,
        v_head_dim=128,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_shared_experts=1,
        n_group=1,
        topk_group=1,
        tie_word_embeddings=False,
    )
    return DeepseekV3ForCausalLM(config)


MODELS = {"tiny-dense": dense, "tiny-mla": mla}
CALLED = "tiny-dense"
"""The one that is asked for tool calls."""


def save(name: str, folder: Path) -> None:
    """Write one model's folder: the same bytes on every call with the same torch."""
    make_model(folder, context_length=CONTEXT)
    described = json.loads((folder / "config.json").read_text())
    shared = ("vocab_size", "eos_token_id", "pad_token_id", "max_position_embeddings")
    torch.manual_seed(SEED)
    model = MODELS[name]({**{key: described[key] for key in shared}, "initializer_range": SPREAD}).float()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # A string inside a call's JSON ends with a quote.
    quote = '"' if name == CALLED else None
    ends = [id_ for token, id_ in tokenizer.get_vocab().items() if token in ENDS or token[:1] == quote]
    with torch.no_grad():
        model.lm_head.weight[ends] *= LIKELY
    model.save_pretrained(folder)


def main() -> None:
    """Make both models in the folder named on the command line."""
    parser = argparse.ArgumentParser(prog="scripts/tiny_models.py", description="Make the miniatures' models.")
    parser.add_argument("folder", type=Path, help="Where their folders are written.")
    folder = parser.parse_args().folder
    try:
        for name in MODELS:
            save(name, folder / name)
    except OSError as error:
        sys.exit(f"scripts/tiny_models.py: cannot write {folder}: {error.strerror}")


if __name__ == "__main__":
    main()
