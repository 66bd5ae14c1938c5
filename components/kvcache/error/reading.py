"""A `GlmMoeDsaForCausalLM` of transformers that reads its own rows: sparse attention as vLLM computes it.

transformers expands all cached latents to keys and values at each step. Here the queries are absorbed into latent space
instead and only selected rows are read, which is the same sum and makes 140K tokens possible. Several runs share the
weights, each with caches of its own.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import msgspec
import torch
from torch import Tensor
from transformers.models.glm_moe_dsa.modeling_glm_moe_dsa import apply_rotary_pos_emb_interleave

from components.kvcache.codec import decode, encode
from components.kvcache.rows import LATENT_VALUES, ROPE_VALUES, Row

_HEADS_AXIS: Final = 2
"""Of `[batch, tokens, heads, values]`."""


class Seen(msgspec.Struct, frozen=True):
    """What a layer did with the tokens of one step.

    Attributes:
        latent: `[tokens, 512]`, as they were given to the cache.
        stored: `[tokens, 512]`, as the cache gives them back.
        output: `[tokens, hidden]`, what attention adds to the residual stream.
        selected: `[tokens, k]` places in the context, where the layer has an indexer; a place behind the token's own
            stands for none.
    """

    latent: Tensor
    stored: Tensor
    output: Tensor
    selected: Tensor | None


class Cache:
    """One layer's rows and indexer keys in one run.

    Args:
        attention: The layer's attention, for devices and dtypes.
        capacity_tokens: Most tokens that it holds.
        row: What rows are encoded as; none keeps latents as they are.
    """

    def __init__(self, attention: Any, capacity_tokens: int, row: Row | None) -> None:
        weight = attention.kv_b_proj.weight
        self._row = row
        self.tokens = 0
        # Decoded rows: every value of the formats is exact in bfloat16.
        self.rows = weight.new_empty(capacity_tokens, LATENT_VALUES + ROPE_VALUES)
        size = 0 if attention.indexer is None else attention.indexer.head_dim
        self.keys = weight.new_empty(capacity_tokens, size)

    def append(self, latent: Tensor, rope: Tensor) -> Tensor:
        """Store tokens and return their `[tokens, 576]` as they will be read."""
        first, self.tokens = self.tokens, self.tokens + len(latent)
        new = self.rows[first : self.tokens]
        new.copy_(torch.cat(self._through(latent, rope), dim=-1))
        return new

    def encode_again(self) -> None:
        """Encode what was decoded, as an engine would that keeps other rows elsewhere and brings them back."""
        rows = self.rows[: self.tokens]
        rows.copy_(torch.cat(self._through(*rows.split([LATENT_VALUES, ROPE_VALUES], dim=-1)), dim=-1))

    def _through(self, latent: Tensor, rope: Tensor) -> tuple[Tensor, Tensor]:
        return (latent, rope) if self._row is None else decode(encode(latent, rope, self._row), self._row)


class Run:
    """One reading of the tokens, with caches of its own.

    Args:
        name: What it is called in reports.
        caches: One for each layer.
        leader: A run that has read the same tokens before: its selections are used instead of the run's own.
    """

    def __init__(self, name: str, caches: Sequence[Cache], leader: "Run | None" = None) -> None:
        self.name = name
        self.caches = caches
        self.leader = leader
        self.seen: list[Seen] = []

    @property
    def tokens(self) -> int:
        """Tokens read so far."""
        return self.caches[0].tokens


class Reader:
    """A model whose attention uses the caches of whichever run is reading.

    Args:
        model: A `GlmMoeDsaForCausalLM`; the forward methods of its attention are replaced.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._run: Run | None = None
        for number, layer in enumerate(model.model.layers):
            layer.self_attn.forward = partial(self._forward, number, layer.self_attn)

    def run(self, name: str, row: Row | None, capacity_tokens: int, leader: Run | None = None) -> Run:
        """Return a new run of at most that many tokens."""
        layers = self._model.model.layers
        return Run(name, [Cache(layer.self_attn, capacity_tokens, row) for layer in layers], leader)

    def read(self, run: Run, ids: Tensor) -> Tensor:
        """Let a run read the next tokens, `[tokens]`; the logits behind each, `[tokens, vocabulary]`."""
        self._run, run.seen = run, []
        positions = torch.arange(run.tokens, run.tokens + len(ids), device=ids.device)
        with torch.no_grad():
            return self._model(input_ids=ids[None], position_ids=positions[None], use_cache=False).logits[0]

    def _forward(
        self,
        number: int,
        attention: Any,
        hidden_states: Tensor,
        position_embeddings: tuple[Tensor, Tensor],
        prev_topk_indices: Tensor | None = None,
        **_: Any,
    ) -> tuple[Tensor, None, Tensor | None]:
        run = self._run
        assert run is not None  # noqa: S101 - nothing but `read` calls the model.
        given = run.leader.seen[number].selected if run.leader is not None else None
        seen, selected = attend(
            attention,
            run.caches[number],
            hidden_states,
            position_embeddings,
            before=prev_topk_indices,
            given=given,
        )
        run.seen.append(seen)
        return seen.output[None], None, selected


def attend(
    attention: Any,
    cache: Cache,
    hidden: Tensor,
    turned: tuple[Tensor, Tensor],
    *,
    before: Tensor | None = None,
    given: Tensor | None = None,
) -> tuple[Seen, Tensor]:
    """Store a step's tokens and attend from them.

    Args:
        attention: A `GlmMoeDsaAttention`.
        cache: Of this layer.
        hidden: `[1, tokens, hidden]`, normed.
        turned: RoPE's cosines and sines.
        before: The selection of the layer before, which a layer without an indexer uses.
        given: What the layer's indexer would select, if it is not to be asked.
    """
    tokens, heads = hidden.shape[1], attention.num_heads
    residual = attention.q_a_layernorm(attention.q_a_proj(hidden))
    queries = attention.q_b_proj(residual).view(1, tokens, heads, -1)
    nope, rotary = queries.split([attention.qk_nope_head_dim, attention.qk_rope_head_dim], dim=-1)
    latent, rope = attention.kv_a_proj_with_mqa(hidden).split([LATENT_VALUES, ROPE_VALUES], dim=-1)
    latent = attention.kv_a_layernorm(latent)
    rotary, rope = apply_rotary_pos_emb_interleave(rotary, rope.unsqueeze(_HEADS_AXIS), *turned, unsqueeze_dim=2)
    stored = cache.append(latent[0], rope[0, :, 0])
    own = given
    if own is None and attention.indexer is not None:
        own = select(attention.indexer, cache, hidden, residual, turned)
    selected = before if own is None else own
    assert selected is not None  # noqa: S101 - the first layer of the architecture has an indexer.
    up_keys, up_values = _up_projections(attention)
    absorbed = torch.cat([torch.einsum("thn,hnl->thl", nope[0], up_keys), rotary[0]], dim=-1)
    mixed = _mix(absorbed, cache, selected, attention.scaling)
    output = attention.o_proj(torch.einsum("thl,hvl->thv", mixed, up_values).reshape(tokens, -1))
    return Seen(latent[0], stored[:, :LATENT_VALUES], output, own), selected


def select(indexer: Any, cache: Cache, hidden: Tensor, residual: Tensor, turned: tuple[Tensor, Tensor]) -> Tensor:
    """Store the indexer's keys of a step and return which tokens each of its tokens attends to, `[tokens, k]`.

    Keys are kept as the model computes them: their own FP8 is the same beside every row.
    """
    tokens = hidden.shape[1]
    queries = indexer.wq_b(residual).view(1, tokens, indexer.n_heads, indexer.head_dim)
    keys = indexer.k_norm(indexer.wk(hidden)).unsqueeze(_HEADS_AXIS)
    rope = indexer.qk_rope_head_dim
    q_turned, k_turned = apply_rotary_pos_emb_interleave(
        queries[..., :rope], keys[..., :rope], *turned, unsqueeze_dim=_HEADS_AXIS
    )
    queries = torch.cat([q_turned, queries[..., rope:]], dim=-1)[0]
    context = cache.tokens
    cache.keys[context - tokens : context] = torch.cat([k_turned, keys[..., rope:]], dim=-1)[0, :, 0]
    scores = queries.flatten(0, 1).float() @ cache.keys[:context].float().T * indexer.softmax_scale
    weights = indexer.weights_proj(hidden.to(indexer.weights_proj.weight.dtype))[0].float() * indexer.n_heads**-0.5
    scores = torch.einsum("th,thc->tc", weights, scores.relu().view(tokens, indexer.n_heads, context))
    scores.masked_fill_(_behind(torch.arange(context, device=scores.device), context, tokens), -torch.inf)
    return scores.topk(min(indexer.index_topk, context), dim=-1).indices


def _mix(queries: Tensor, cache: Cache, selected: Tensor, scaling: float) -> Tensor:
    """Return the attention-weighted mean of the selected latents, `[tokens, heads, 512]`."""
    rows = cache.rows[selected.to(cache.rows.device)]
    logits = torch.einsum("thd,tkd->thk", queries, rows).float() * scaling
    logits.masked_fill_(_behind(selected, cache.tokens, len(selected))[:, None], -torch.inf)
    weights = torch.softmax(logits, dim=-1).to(rows.dtype)
    return torch.einsum("thk,tkl->thl", weights, rows[..., :LATENT_VALUES])


def _behind(places: Tensor, context: int, tokens: int) -> Tensor:
    """Return which places lie behind the step's tokens, which are the last ones of the context."""
    own = torch.arange(context - tokens, context, device=places.device)
    return places > own[:, None]


def _up_projections(attention: Any) -> tuple[Tensor, Tensor]:
    """Return what latents are expanded to keys and to values by, `[heads, values, 512]` each."""
    weight = attention.kv_b_proj.weight.view(attention.num_heads, -1, LATENT_VALUES)
    keys, values = weight.split([attention.qk_nope_head_dim, attention.v_head_dim], dim=1)
    return keys, values
