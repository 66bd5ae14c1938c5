"""A small `GlmMoeDsaForCausalLM` with random weights, and tokens for it to read."""

from typing import Any, Final

import torch
from torch import Tensor
from transformers import GlmMoeDsaConfig, GlmMoeDsaForCausalLM

VOCABULARY: Final = 512

LAYERS: Final = 4

QUERY_GAIN: Final = 2.0
"""How much wider query weights are than those that keep variance: a head's logits then have this deviation."""


def small_model(context_tokens: int, topk: int, seed: int) -> Any:
    """Return a model of GLM-5.3's architecture: MLA with its head sizes, every second layer with an indexer, experts.

    Weights keep the variance of what they multiply, so that attention counts beside the residual stream. That of
    `initializer_range` would leave it without any effect.

    Args:
        context_tokens: Most tokens that it will read.
        topk: Tokens that a token attends to.
        seed: Of the weights.
    """
    config = GlmMoeDsaConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=512,
        moe_intermediate_size=128,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=4,
        n_routed_experts=8,
        num_experts_per_tok=2,
        q_lora_rank=128,
        index_topk=topk,
        index_n_heads=8,
        indexer_types=["full", "shared"] * (LAYERS // 2),
        mlp_layer_types=["dense", *["sparse"] * (LAYERS - 1)],
        max_position_embeddings=context_tokens,
    )
    torch.manual_seed(seed)
    model = GlmMoeDsaForCausalLM(config).eval()
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            gain = QUERY_GAIN if "q_b_proj" in name else 1.0
            inputs = 1 if "embed_tokens" in name else weight.shape[-1]
            torch.nn.init.normal_(weight, std=gain * inputs**-0.5)
    return model


def made_up_tokens(tokens: int, seed: int) -> Tensor:
    """Return tokens whose frequencies fall as a language's do (Zipf): the nth most frequent is there 1/n as often."""
    source = torch.Generator().manual_seed(seed)
    frequencies = 1.0 / torch.arange(1, VOCABULARY + 1)
    return torch.multinomial(frequencies, tokens, replacement=True, generator=source)
