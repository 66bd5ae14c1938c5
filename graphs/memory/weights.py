"""A model's weights by part: how many parameters, in which format, and over which ranks they are cut."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import msgspec

from graphs.memory.shapes import Shapes


class Cut(StrEnum):
    """Over which ranks a part is cut; what is not cut stands on each of them."""

    TENSOR = "tensor"
    """Tensor-parallel ranks: matrices of attention and dense layers, embeddings."""

    EXPERT = "expert"
    """All ranks: each has whole experts where they are spread (EP), else a slice of every one."""

    WHOLE = "whole"
    """None: each rank has all of it. vLLM replicates the low-rank projections of MLA and the indexer."""


class Format(msgspec.Struct, frozen=True):
    """How a parameter is stored.

    Attributes:
        name: Of the number format.
        bits: Of a parameter, its share of the scales included.
    """

    name: str
    bits: float


BF16: Final = Format("bf16", 16)
FP8: Final = Format("fp8", 8 + 32 / (128 * 128))
"""e4m3 with an fp32 scale for each block of 128 by 128 (`weight_block_size` of `zai-org/GLM-5.3`)."""

NVFP4: Final = Format("nvfp4", 4 + 8 / 16)
"""e2m1 with an e4m3 scale for each 16; the one for the whole matrix does not count."""


class Part(msgspec.Struct, frozen=True):
    """One kind of matrix, over all layers that have it.

    Attributes:
        name: What it does.
        parameters: How many.
        cut: Over which ranks.
        format: How they are stored.
        stored_bytes: Bytes of one copy where a checkpoint says them, scales included; None to compute them.
        scales_bytes: Of those the scales'; 0 where they are computed with their values.
    """

    name: str
    parameters: int
    cut: Cut
    format: Format
    stored_bytes: int | None = None
    scales_bytes: int = 0

    @property
    def all_bytes(self) -> int:
        """Bytes of one copy."""
        return round(self.parameters * self.format.bits / 8) if self.stored_bytes is None else self.stored_bytes


class Formats(msgspec.Struct, frozen=True):
    """What a checkpoint stores in which format.

    Attributes:
        experts: Routed experts.
        linear: Other matrices of the layers.
        mtp: All of the MTP layers.
        embeddings: Embeddings, output head, norms and gates.
    """

    experts: Format
    linear: Format
    mtp: Format
    embeddings: Format = BF16


CHECKPOINTS: Final[Mapping[str, Formats]] = MappingProxyType(
    {"bf16": Formats(BF16, BF16, BF16), "fp8": Formats(FP8, FP8, FP8), "nvfp4": Formats(NVFP4, BF16, BF16)}
)
"""By the name of the weights' format. `nvfp4` comes to the 465 GB of `Inferact/GLM-5.3-NVFP4` when all but the routed
experts is bf16, MTP included; `fp8` is `zai-org/GLM-5.3`, `bf16` `zai-org/GLM-5.3-BF16`."""


def format_of(model: str) -> str:
    """Return the weights' format that a checkpoint's name says.

    Without a word of it, `zai-org/GLM-5.3` is FP8, and GLM-5 to 5.2 are bf16, whose FP8 is `zai-org/GLM-5.2-FP8` and
    its like.
    """
    name = model.lower()
    said = next((format_ for format_ in ("nvfp4", "fp8", "bf16") if format_ in name), None)
    return said or ("fp8" if "glm-5.3" in name else "bf16")


_EMBEDDINGS: Final = "embeddings and head"


def parts(shapes: Shapes, formats: Formats, *, mtp: bool) -> tuple[Part, ...]:
    """Return all parts of a model, the MTP layers only where they are used."""
    layers, dense = shapes.num_hidden_layers, shapes.first_k_dense_replace
    experts = layers - dense
    indexers = len(shapes.kv.indexer_layers)
    found = [
        Part("routed experts", experts * _routed(shapes), Cut.EXPERT, formats.experts),
        Part("shared experts", experts * _shared(shapes), Cut.TENSOR, formats.linear),
        Part("dense layers", dense * 3 * shapes.hidden_size * shapes.intermediate_size, Cut.TENSOR, formats.linear),
        Part("attention, heads", layers * _heads(shapes), Cut.TENSOR, formats.linear),
        Part("attention, low rank", layers * _low_rank(shapes), Cut.WHOLE, formats.linear),
        Part("indexers", indexers * _indexer(shapes), Cut.WHOLE, formats.linear),
        Part("gates and norms", experts * _gate(shapes) + layers * _norms(shapes), Cut.WHOLE, formats.embeddings),
        Part(_EMBEDDINGS, 2 * shapes.vocab_size * shapes.hidden_size, Cut.TENSOR, formats.embeddings),
    ]
    if mtp and shapes.num_nextn_predict_layers:
        found += _mtp(shapes, formats.mtp)
    return tuple(found)


def active_parameters(shapes: Shapes) -> int:
    """Return how many parameters of the layers one token uses: embeddings, output head and MTP apart."""
    found = parts(shapes, CHECKPOINTS["bf16"], mtp=False)
    layers = sum(part.parameters for part in found if part.name != _EMBEDDINGS)
    routed = sum(part.parameters for part in found if part.cut is Cut.EXPERT)
    return layers - routed + routed * shapes.num_experts_per_tok // shapes.n_routed_experts


def _expert(shapes: Shapes) -> int:
    return 3 * shapes.hidden_size * shapes.moe_intermediate_size


def _routed(shapes: Shapes) -> int:
    return shapes.n_routed_experts * _expert(shapes)


def _shared(shapes: Shapes) -> int:
    return shapes.n_shared_experts * _expert(shapes)


def _gate(shapes: Shapes) -> int:
    return shapes.n_routed_experts * (shapes.hidden_size + 1)


def _heads(shapes: Shapes) -> int:
    query = shapes.q_lora_rank * (shapes.qk_nope_head_dim + shapes.qk_rope_head_dim)
    key_value = shapes.kv_lora_rank * (shapes.qk_nope_head_dim + shapes.v_head_dim)
    return shapes.num_attention_heads * (query + key_value + shapes.v_head_dim * shapes.hidden_size)


def _low_rank(shapes: Shapes) -> int:
    return shapes.hidden_size * (shapes.q_lora_rank + shapes.kv_lora_rank + shapes.qk_rope_head_dim)


def _indexer(shapes: Shapes) -> int:
    query = shapes.q_lora_rank * shapes.index_n_heads * shapes.index_head_dim
    # The key's norm has a bias as well.
    return query + shapes.hidden_size * (shapes.index_head_dim + shapes.index_n_heads) + 2 * shapes.index_head_dim


def _norms(shapes: Shapes) -> int:
    return 2 * shapes.hidden_size + shapes.q_lora_rank + shapes.kv_lora_rank


def _mtp(shapes: Shapes, format_: Format) -> list[Part]:
    count = shapes.num_nextn_predict_layers
    # Two norms and a projection of the last hidden state beside the token's embedding; embeddings are the model's.
    joined = 2 * shapes.hidden_size * shapes.hidden_size + 2 * shapes.hidden_size
    whole = _low_rank(shapes) + _indexer(shapes) + _gate(shapes) + _norms(shapes) + joined
    return [
        Part("MTP, routed experts", count * _routed(shapes), Cut.EXPERT, format_),
        Part("MTP, heads and shared expert", count * (_heads(shapes) + _shared(shapes)), Cut.TENSOR, format_),
        Part("MTP, the rest", count * whole, Cut.WHOLE, format_),
    ]
