"""What one token costs a GPU: operations of prefill, and bytes that a decode step reads."""

from typing import Final

from components.kvcache.rows import INDEXER_ROW_BYTES
from graphs.memory.ladder import Engine, Ladder, has_mtp, kv_model
from graphs.memory.shapes import Shapes
from graphs.memory.weights import Cut, active_parameters

SELECTED: Final = 2_048
"""`index_topk`: tokens of the context that sparse attention reads."""


def token_operations(shapes: Shapes) -> int:
    """Operations of one prompt token, whatever its context: matrices, and attention to the selected tokens.

    A product and its sum are two operations; attention multiplies with the absorbed latent, as vLLM's sparse kernels.
    """
    attention = 2 * shapes.num_attention_heads * (2 * shapes.kv_lora_rank + shapes.qk_rope_head_dim) * SELECTED
    return 2 * active_parameters(shapes) + attention * shapes.num_hidden_layers


def context_operations(shapes: Shapes) -> int:
    """Operations that each token of context adds to one: the indexers score all of them."""
    return 2 * shapes.index_n_heads * shapes.index_head_dim * len(shapes.kv.indexer_layers)


def drafts(engine: Engine) -> int:
    """Tokens that MTP drafts for a step, 0 without."""
    speculative = engine.settings.speculative_config or {}
    return int(speculative.get("num_speculative_tokens", 1)) if has_mtp(engine.settings) else 0


def accepted(engine: Engine, acceptance: float) -> float:
    """Tokens of an answer that a decode step brings, where each draft is right that often if those before it are."""
    return sum(acceptance**place for place in range(drafts(engine) + 1))


def step_bytes(engine: Engine, ladder: Ladder, requests: float, context_tokens: float) -> float:
    """Return the bytes that one GPU reads in a decode step of that many requests in the engine; one of each stage.

    Weights are read once, of the experts only those that a token takes, who are thought to choose at random and apart
    from each other; of KV the selected rows of each token in the step, and all indexer keys of each request. Embeddings
    are looked up, so only the head counts. Pipeline stages read one after another, so theirs add up.
    """
    ranks, shapes = ladder.topology, engine.shapes
    # Attention ranks have their own requests; experts, which are cut over all of them, see those of all.
    tokens = requests * (1 + drafts(engine))
    missed = 1 - shapes.num_experts_per_tok / shapes.n_routed_experts
    read = 0.0
    for part in engine.parts:
        share = 1 - missed**tokens if part.cut is Cut.EXPERT else 1.0
        passes = max(1, drafts(engine)) if part.name.startswith("MTP") else 1
        own_bytes = part.all_bytes / ranks.shards(part.cut) * ranks.pipeline
        read += own_bytes * share * passes * (0.5 if "embeddings" in part.name else 1.0)
    model = kv_model(engine)
    rows = (
        tokens / ranks.data * min(SELECTED, context_tokens) * ladder.row.row_bytes * (model.layers + model.mtp_layers)
    )
    keys = requests / ranks.data * context_tokens * INDEXER_ROW_BYTES * (len(model.indexer_layers) + model.mtp_layers)
    return read + (rows + keys) / ranks.decode_context
