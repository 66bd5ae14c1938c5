"""The checkable numbers of two published deployments of GLM-5.3, beside what the model's shapes come to.

*PI* is Prime Inference's write-up of GLM-5.3 on GB200, *vLLM* the vLLM project's of GLM-5.x on H200. A number is
*reproduced* when ours, rounded as theirs is printed, is the same; *explained* when it needs an assumption, which is
said; *contradicted* when no reading of it that we know gives it; *not computable* when it was measured and no
configuration says it.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

import msgspec

from components.kvcache.layouts import Cut, Layout
from components.kvcache.rows import (
    BF16,
    FP8,
    FP8_DS_MLA,
    GLM_5_3,
    INDEXER_ROW_BYTES,
    LATENT_VALUES,
    NVFP4_DS_MLA,
    ROPE_VALUES,
    token_bytes,
)
from graphs.memory.devices import GIB, device
from graphs.memory.ladder import Engine, Ladder, ladder
from graphs.memory.shapes import KNOWN
from graphs.settings.vllm import VllmSettings


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    EXPLAINED = "explained"
    CONTRADICTED = "contradicted"
    NOT_COMPUTABLE = "not computable"


class Claim(msgspec.Struct, frozen=True):
    """One published number.

    Attributes:
        source: Whose.
        what: What it counts.
        published: As it is printed.
        ours: As we compute it, rounded alike; empty where nothing is computed.
        formula: How.
        verdict: What became of it.
    """

    source: str
    what: str
    published: str
    ours: str
    formula: str
    verdict: Verdict


_TOKENS_1M: Final = 1_048_576
_TOKENS_256K: Final = 262_144
_HEADS: Final = 64
_SELECTED: Final = 2_048
_FP8_TOKEN: Final = token_bytes(GLM_5_3, FP8).all_bytes
_DS_MLA_TOKEN: Final = token_bytes(GLM_5_3, FP8_DS_MLA).all_bytes
_NVFP4_TOKEN: Final = token_bytes(GLM_5_3, NVFP4_DS_MLA).all_bytes


def _exact(source: str, what: str, published: str, ours: str, formula: str) -> Claim:
    return Claim(source, what, published, ours, formula, _as_printed(published, ours))


def explained(source: str, what: str, published: str, ours: str, formula: str) -> Claim:
    """Return a claim that takes an assumption, which the formula says."""
    return Claim(source, what, published, ours, formula, Verdict.EXPLAINED)


def _as_printed(published: str, ours: str) -> Verdict:
    return Verdict.REPRODUCED if published == ours else Verdict.CONTRADICTED


def _rows() -> list[Claim]:
    layers = GLM_5_3.layers
    spread = INDEXER_ROW_BYTES * len(GLM_5_3.indexer_layers) / layers
    # What does not shrink, from the capacities: (576 + x) / (352 + x) is the ratio of the two.
    ratio = 1.63 / 1.09
    missing = (FP8.row_bytes - ratio * NVFP4_DS_MLA.row_bytes) / (ratio - 1)
    mtp = (token_bytes(GLM_5_3, FP8).mtp_bytes + token_bytes(GLM_5_3, NVFP4_DS_MLA).mtp_bytes) / 2 / layers
    return [
        _exact("PI", "FP8 row", "576 B", f"{FP8.row_bytes} B", "512 + 64 values of a byte"),
        _exact("PI", "NVFP4 row", "352 B", f"{NVFP4_DS_MLA.row_bytes} B", "512 / 2 + 64 + 512 / 16"),
        _exact("PI", "one over the other", "1.64x", f"{FP8.row_bytes / NVFP4_DS_MLA.row_bytes:.2f}x", "576 / 352"),
        _exact("vLLM", "fp8_ds_mla row", "656 B", f"{FP8_DS_MLA.row_bytes} B", "512 + 4 scales of 4 + 64 in bf16"),
        _exact(
            "vLLM",
            "MTP of a token, fp8_ds_mla",
            "788 B",
            f"{token_bytes(GLM_5_3, FP8_DS_MLA).mtp_bytes} B",
            "a row of 656 and an indexer row of 132",
        ),
        _exact("vLLM", "a token, fp8_ds_mla", "54,728 B", f"{_DS_MLA_TOKEN:,} B", "78 x 656 + 21 x 132 + 788"),
        _exact(
            "PI",
            "staged for a four-bit row",
            "1,504 B",
            f"{NVFP4_DS_MLA.row_bytes + BF16.row_bytes:,} B",
            "the row read, and unpacked to bf16 in memory: 352 + 1,152",
        ),
        explained(
            "PI",
            "bytes a row and layer that do not shrink",
            "about 100 B",
            f"{spread + mtp:.0f} of {missing:.0f} B",
            f"from 1.09 M and 1.63 M tokens follow {missing:.0f}; indexer keys, spread over the layers, are "
            f"{spread:.1f}, MTP {mtp:.1f}; the others need a pool that is 5 % smaller with NVFP4",
        ),
    ]


def _capacity() -> list[Claim]:
    whole = _DS_MLA_TOKEN * _TOKENS_1M / GIB
    return [
        _exact("vLLM", "1M tokens", "53.4 GiB", f"{whole:.1f} GiB", "1,048,576 x 54,728"),
        _exact("vLLM", "of them on each of eight DCP ranks", "6.7 GiB", f"{whole / 8:.1f} GiB", "53.4 / 8"),
        _exact(
            "vLLM",
            "256K tokens on one rank",
            "13.4 GiB",
            f"{_DS_MLA_TOKEN * _TOKENS_256K / GIB:.1f} GiB",
            "262,144 x 54,728",
        ),
        _exact(
            "PI",
            "latents of 200K tokens, NVFP4",
            "5.5 GB",
            f"{200_000 * GLM_5_3.layers * NVFP4_DS_MLA.row_bytes / 1e9:.1f} GB",
            "200,000 x 78 x 352; with indexer keys and MTP 6.1",
        ),
        explained(
            "PI",
            "tokens of a decode GPU, FP8 to NVFP4",
            "1.09 M to 1.63 M, 1.50x",
            f"{_FP8_TOKEN / _NVFP4_TOKEN:.3f}x",
            f"{_FP8_TOKEN:,} / {_NVFP4_TOKEN:,}; the two capacities are pools of 52.8 and 50.1 GB",
        ),
        _sessions("PI", "sessions of a decoder, FP8", "7", 1.09e6),
        _sessions("PI", "sessions of a decoder, NVFP4", "11", 1.63e6),
        explained(
            "PI",
            "a session, FP8",
            "6.6 GB",
            f"{_FP8_TOKEN * _SESSION / 1e9:.1f} GB",
            f"{_SESSION:,} x {_FP8_TOKEN:,}, {_FITTED}",
        ),
        explained(
            "PI",
            "a session, NVFP4",
            "4.0 GB",
            f"{_NVFP4_TOKEN * _SESSION / 1e9:.1f} GB",
            f"{_SESSION:,} x {_NVFP4_TOKEN:,}; 6.6 / 1.64 is 4.0, which lets indexer keys shrink as well",
        ),
    ]


_FITTED: Final = "a length that was chosen to fit these three"
_SESSION: Final = 136_500
"""Tokens of a session, which the write-up does not say. Seven in 1.09 M and 11 in 1.63 M tokens leave 136,250 to
148,182; 6.6 GB is 136,300 in FP8."""


def _sessions(source: str, what: str, published: str, tokens: float) -> Claim:
    return explained(
        source, what, published, f"{tokens // _SESSION:.0f}", f"{tokens / 1e6:.2f} M / {_SESSION:,}, {_FITTED}"
    )


def _deployments() -> list[Claim]:
    in_flight = 100 * 24 / 101
    gpus = [(decoders, 8 + 4 * decoders) for decoders in (4, 3, 2)]
    return [
        *(
            _exact("PI", f"GPUs of 1:{n}", f"{wanted}", f"{count}", f"8 + {n} x 4")
            for (n, count), wanted in zip(gpus, (24, 20, 16), strict=True)
        ),
        _exact(
            "PI",
            "requests in flight at 66 sessions",
            "24",
            f"{in_flight:.0f}",
            "100 tok/s a GPU x 24 GPUs / 101 tok/s a user; the other sessions are resident and idle",
        ),
    ]


def _transfers() -> list[Claim]:
    large = Cut(GLM_5_3, NVFP4_DS_MLA, Layout.LBHNC, 1024)
    small = Cut(GLM_5_3, NVFP4_DS_MLA, Layout.BLHNC, 64)
    blocks = large.blocks(200_000)
    return [
        _exact(
            "PI",
            "copies, a layer at a time",
            "15,288",
            f"{GLM_5_3.layers * blocks:,}",
            "78 layers x 196 blocks of 1,024",
        ),
        _exact("PI", "copies, a block at a time", "3,125", f"{small.pieces(200_000):,}", "200,000 / 64"),
        explained(
            "PI", "pieces, block-major", "1,940", f"{small.pieces(124_160):,}", "124,160 / 64, the tokens chosen to fit"
        ),
        Claim(
            "PI",
            "pieces, layer-major",
            "19,559",
            f"{large.pieces(124_160):,}",
            f"122 blocks of 1,024 x {large.pieces_per_block} regions for the same tokens; 19,559 is a prime, so a mean "
            "over requests, of some 198,000 tokens, which in blocks of 64 are 3,100 pieces and not 1,940",
            Verdict.CONTRADICTED,
        ),
    ]


def _roofline() -> list[Claim]:
    def intensity(heads: int) -> float:
        operations = 2 * heads * (2 * LATENT_VALUES + ROPE_VALUES)
        # Of a selected row: itself and its index, and its share of query and output in bf16.
        both_bytes = 2 * heads * (2 * LATENT_VALUES + ROPE_VALUES) / _SELECTED
        return operations / (FP8_DS_MLA.row_bytes + 4 + both_bytes)

    formula = "2 x heads x 1,088 operations over 656 B, an index of 4 B, and 2,048th parts of query and output"
    return [
        _exact("vLLM", "sparse attention, 8 heads", "26 FLOP/B", f"{intensity(8):.0f} FLOP/B", formula),
        _exact("vLLM", "sparse attention, 64 heads", "191 FLOP/B", f"{intensity(_HEADS):.0f} FLOP/B", formula),
        _exact(
            "vLLM",
            "where an H200 is as fast in both",
            "206 FLOP/B",
            f"{989.5 / 4.8:.0f} FLOP/B",
            "989.5 TFLOP/s bf16 / 4.8 TB/s",
        ),
    ]


def _kept() -> list[Claim]:
    """What the ladder comes to; its buffers are assumed, so nothing here is exact."""

    def kept(gpu: str, weights: str, row: str, **ranks: int) -> Ladder:
        flags = {name.replace("_", "-"): count for name, count in ranks.items()}
        settings = VllmSettings.model_validate({**_PREFILL, "kv-cache-dtype": row, **flags})
        return ladder(Engine("Prefill", "prefill", settings, KNOWN["GLM-5.3"], weights, device(gpu)))

    def ratio(*hardware: str) -> float:
        spread, tensor = kept(*hardware, data_parallel_size=8), kept(*hardware, tensor_parallel_size=8)
        return spread.engine_tokens / tensor.engine_tokens

    contexts = {"prefill_context_parallel_size": 8, "decode_context_parallel_size": 8, "max_num_batched_tokens": 8192}
    left = kept("h200", "fp8", "fp8_ds_mla", **contexts)
    assumed = sum(rung.size_bytes for rung in left.rungs if rung.kind == "assumed")
    return [
        explained(
            "vLLM",
            "left for KV on an H200 that prefills",
            "about 15 GiB",
            f"{left.kv_bytes / GIB:.0f} GiB",
            f"the ladder of PCP8 x DCP8 x EP8, of whose rungs {assumed / GIB:.1f} GiB are assumed",
        ),
        explained(
            "PI",
            "prefix capacity of DEP8 over TEP8",
            "about 5x",
            f"{ratio('gb200', 'nvfp4', 'nvfp4_ds_mla'):.1f}x",
            "eight caches for one, less the attention weights that each DEP rank has whole: the ladder on GB200 in "
            f"NVFP4; {ratio('h200', 'fp8', 'fp8_ds_mla'):.1f}x on H200 in FP8",
        ),
    ]


_PREFILL: Final = {
    "enable-expert-parallel": True,
    "max-num-batched-tokens": 4096,
    "speculative-config": {"method": "mtp", "num_speculative_tokens": 1},
}


_FAMILIES: Final[tuple[Callable[[], list[Claim]], ...]] = (
    _rows,
    _capacity,
    _deployments,
    _transfers,
    _roofline,
    _kept,
)


def ledger() -> list[Claim]:
    """Return every claim about memory, by what it is about; `graphs/ratio/claims.py` has those about time."""
    return [claim for family in _FAMILIES for claim in family()]
