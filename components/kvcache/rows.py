"""The KV row of GLM-5.x: what one token keeps in one layer, where each byte lies, and what all layers come to.

A layer caches 512 latent values and 64 RoPE values a token, shared by all heads (MLA). Layers with an indexer of their
own cache a key for it as well; the others use the selection of the layer before. An MTP layer has both.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

LATENT_VALUES: Final = 512
"""`kv_lora_rank` of the model's `config.json`."""

ROPE_VALUES: Final = 64
"""`qk_rope_head_dim`."""

INDEXER_VALUES: Final = 128
"""`index_head_dim`: one e4m3 key, shared by the indexer's heads."""

INDEXER_SCALE_BYTES: Final = 4
"""One fp32 scale a key, a power of two."""

INDEXER_ROW_BYTES: Final = INDEXER_VALUES + INDEXER_SCALE_BYTES
"""132 B whatever the cache dtype (vLLM 0.31 `models/deepseek_v32/attention.py`)."""


class Part(msgspec.Struct, frozen=True):
    """Consecutive bytes of a row that hold one kind of value.

    Attributes:
        offset_bytes: Its first byte within the row.
        size_bytes: Its length.
        number_format: What a value is stored as.
    """

    offset_bytes: int
    size_bytes: int
    number_format: str

    @property
    def end_bytes(self) -> int:
        """The first byte behind it."""
        return self.offset_bytes + self.size_bytes


class Row(msgspec.Struct, frozen=True):
    """One token's latent and RoPE in one layer.

    Attributes:
        cache_dtype: vLLM's name (`--kv-cache-dtype`).
        latent: `LATENT_VALUES` values.
        rope: `ROPE_VALUES` values.
        scales: The latent's scales, `scale_values` latent values each; without any, the latent is not scaled or its
            scale is one for the whole layer and lies elsewhere.
        scale_offsets_bytes: For each group of latent values in order, where its scale begins within the row.
    """

    cache_dtype: str
    latent: Part
    rope: Part
    scales: Part | None = None
    scale_offsets_bytes: tuple[int, ...] = ()

    @property
    def row_bytes(self) -> int:
        """Bytes of the row: its parts leave no gap."""
        return self.latent.size_bytes + self.rope.size_bytes + self.scales_bytes

    @property
    def scales_bytes(self) -> int:
        """Bytes of the scales, 0 without any."""
        return 0 if self.scales is None else self.scales.size_bytes

    @property
    def scale_values(self) -> int:
        """Latent values that share a scale, 0 without scales."""
        return LATENT_VALUES // len(self.scale_offsets_bytes) if self.scale_offsets_bytes else 0


def _nvfp4_scale_offsets(first: int, groups: int = 32) -> tuple[int, ...]:
    # An 8x4 -> 4x8 transpose: the eight scales that one thread of FlashMLA needs lie together.
    return tuple(first + 8 * (group & 3) + (group >> 2) for group in range(groups))


BF16: Final = Row("bfloat16", Part(0, 1024, "bf16"), Part(1024, 128, "bf16"))
"""1,152 B: not quantized."""

FP8: Final = Row("fp8_e4m3", Part(0, 512, "e4m3"), Part(512, 64, "e4m3"))
"""576 B: plain FP8, as FlashInfer's sparse MLA backend reads it; the scale is one for the layer, outside the row."""

FP8_DS_MLA: Final = Row(
    "fp8_ds_mla",
    Part(0, 512, "e4m3"),
    Part(528, 128, "bf16"),
    Part(512, 16, "fp32"),
    tuple(512 + 4 * group for group in range(4)),
)
"""656 B (vLLM 0.31 `v1/attention/backends/mla/flashmla_sparse.py`): a scale for each 128 values, RoPE in bf16."""

NVFP4_DS_MLA: Final = Row(
    "nvfp4_ds_mla",
    Part(0, 256, "e2m1"),
    Part(256, 64, "e4m3"),
    Part(320, 32, "e4m3"),
    _nvfp4_scale_offsets(320),
)
"""352 B (the same file): two values a byte, the even one in the low nibble; RoPE unscaled; a scale for each 16 values,
permuted. There is no scale for the whole row or layer."""

ROWS: Final[Mapping[str, Row]] = MappingProxyType(
    {row.cache_dtype: row for row in (BF16, FP8, FP8_DS_MLA, NVFP4_DS_MLA)}
)
"""Every row, by vLLM's name of its cache dtype."""


def indexer_offsets_bytes(token: int, block_tokens: int) -> tuple[int, int]:
    """Return where a token's indexer key and its scale begin within a page of `block_tokens` tokens.

    A page has all keys first and all scales after them (vLLM 0.31 `models/deepseek_v32/common/kernels.py`), unlike a
    page of latent rows, where token `t` begins at `t * row_bytes`.
    """
    return token * INDEXER_VALUES, block_tokens * INDEXER_VALUES + token * INDEXER_SCALE_BYTES


class Model(msgspec.Struct, frozen=True):
    """The layers of one model that keep KV.

    Attributes:
        name: As on the model's card.
        layers: Layers, MTP apart.
        indexer_layers: Those of them with an indexer, and so a key cache, of their own.
        mtp_layers: Layers behind them that draft tokens (`num_nextn_predict_layers`): a latent row and an indexer row
            each.
    """

    name: str
    layers: int
    indexer_layers: tuple[int, ...]
    mtp_layers: int = 1


def indexer_layers(layers: int, every: int, offset: int) -> tuple[int, ...]:
    """Return the layers that have an indexer of their own.

    Args:
        layers: `num_hidden_layers`.
        every: `index_topk_freq`.
        offset: `index_skip_topk_offset`; the layers below it all have one.
    """
    # As vLLM 0.31 decides it, layer by layer (`models/deepseek_v32/attention.py`).
    return tuple(layer for layer in range(layers) if max(layer - offset + 1, 0) % every == 0)


_LAYERS: Final = 78

GLM_5: Final = Model("GLM-5", _LAYERS, indexer_layers(_LAYERS, every=1, offset=0))
GLM_5_1: Final = Model("GLM-5.1", _LAYERS, indexer_layers(_LAYERS, every=1, offset=0))
GLM_5_2: Final = Model("GLM-5.2", _LAYERS, indexer_layers(_LAYERS, every=4, offset=3))
GLM_5_3: Final = Model("GLM-5.3", _LAYERS, indexer_layers(_LAYERS, every=4, offset=3))

MODELS: Final[Mapping[str, Model]] = MappingProxyType(
    {model.name: model for model in (GLM_5, GLM_5_1, GLM_5_2, GLM_5_3)}
)
"""Every model by its name. GLM-5.3-Flash is another architecture and not among them."""


class TokenBytes(msgspec.Struct, frozen=True):
    """Bytes that one token keeps in all layers, by part.

    Attributes:
        latent_bytes: Latent values.
        rope_bytes: RoPE values.
        scales_bytes: The latent's scales.
        indexer_bytes: Indexer keys and their scales.
        mtp_bytes: The MTP layers' rows, latent and indexer.
    """

    latent_bytes: int
    rope_bytes: int
    scales_bytes: int
    indexer_bytes: int
    mtp_bytes: int

    @property
    def all_bytes(self) -> int:
        """All parts together."""
        return self.latent_bytes + self.rope_bytes + self.scales_bytes + self.indexer_bytes + self.mtp_bytes


def token_bytes(model: Model, row: Row) -> TokenBytes:
    """Return what one token keeps in one copy of the cache."""
    return TokenBytes(
        latent_bytes=model.layers * row.latent.size_bytes,
        rope_bytes=model.layers * row.rope.size_bytes,
        scales_bytes=model.layers * row.scales_bytes,
        indexer_bytes=len(model.indexer_layers) * INDEXER_ROW_BYTES,
        mtp_bytes=model.mtp_layers * (row.row_bytes + INDEXER_ROW_BYTES),
    )
