"""The error on made-up latents: of the rows, and of MLA attention over a selection of them.

Latents are normed token by token, as `kv_a_layernorm` leaves them with weights of one; queries are random directions,
scaled so that a head's logits over the whole context have a given deviation.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

import msgspec
import torch
from torch import Tensor

from components.kvcache.codec import decode, encode
from components.kvcache.error.sums import Error, compare
from components.kvcache.rows import LATENT_VALUES, ROPE_VALUES, Row

QUERIES: Final = 4
HEADS: Final = 16
"""GLM-5.3's on a rank of TP4."""

SAMPLE_TOKENS: Final = 4096
"""Of how many tokens the latents' error is taken."""

_DEGREES_OF_FREEDOM: Final = 3
_OUTLIER_CHANNELS: Final = 8
_OUTLIER_FACTOR: Final = 16.0
_SMALL: Final = 0.01


class Kind(StrEnum):
    """How latents are distributed."""

    GAUSSIAN = "gaussian"
    STUDENT_T = "student-t"
    OUTLIER_CHANNELS = "outlier channels"
    SMALL = "gaussian x 0.01"


class Focus(StrEnum):
    """How a head spreads its attention."""

    FLAT = "flat"
    PEAKED = "peaked"


LOGIT_DEVIATION: Final = {Focus.FLAT: 1.0, Focus.PEAKED: 4.0}
"""Deviation of the logits over all tokens of the context."""


class Figure(msgspec.Struct, frozen=True):
    """The error of one row on one kind of latents at one context.

    Attributes:
        kind: The latents' distribution.
        context_tokens: Tokens of history.
        selected_tokens: Of which so many are attended to.
        row: vLLM's name of the row.
        latent: Of the latents.
        output: Of the attention's output, in latent space, by the spread of attention.
    """

    kind: Kind
    context_tokens: int
    selected_tokens: int
    row: str
    latent: Error
    output: dict[Focus, Error]


def measure(kind: Kind, contexts: Sequence[int], topk: int, rows: Sequence[Row], seed: int) -> Iterator[Figure]:
    """Yield the figures of one kind of latents, context by context.

    Args:
        kind: The distribution.
        contexts: Lengths of history in tokens, ascending; each is the beginning of the next.
        topk: Tokens attended to (`index_topk`); all of them where the context is shorter.
        rows: The formats.
        seed: Of latents and queries.
    """
    source = torch.Generator().manual_seed(seed)
    history = torch.cat([latents(kind, contexts[-1], source), _normal(source, contexts[-1], ROPE_VALUES)], dim=-1)
    directions = _normal(source, QUERIES, HEADS, LATENT_VALUES + ROPE_VALUES)
    for context in contexts:
        logits = directions @ history[:context].T
        scale = 1 / logits.std(-1, keepdim=True)
        # As an indexer does: one selection for all heads of a token.
        selected = (logits * scale).clamp(min=0).mean(1).topk(min(topk, context)).indices
        for row in rows:
            yield _figure(kind, history[:context], directions * scale, selected, row)


def latents(kind: Kind, tokens: int, source: torch.Generator) -> Tensor:
    """Return `[tokens, 512]` latents."""
    values = _normal(source, tokens, LATENT_VALUES)
    if kind == Kind.STUDENT_T:
        # A normal over the root of a chi-squared, which is a gamma: here by the squares of as many normals.
        squares = sum(_normal(source, tokens, LATENT_VALUES).square() for _ in range(_DEGREES_OF_FREEDOM))
        values /= torch.as_tensor(squares / _DEGREES_OF_FREEDOM).sqrt()
    elif kind == Kind.OUTLIER_CHANNELS:
        channels = torch.randperm(LATENT_VALUES, generator=source)[:_OUTLIER_CHANNELS]
        values[:, channels] *= _OUTLIER_FACTOR
    values /= values.square().mean(-1, keepdim=True).sqrt()
    return values * _SMALL if kind == Kind.SMALL else values


def _figure(kind: Kind, history: Tensor, queries: Tensor, selected: Tensor, row: Row) -> Figure:
    chosen, sample = history[selected], history[:SAMPLE_TOKENS]
    stored = _stored(chosen, row)
    output = {
        focus: compare(_attend(queries * deviation, stored), _attend(queries * deviation, chosen)).error
        for focus, deviation in LOGIT_DEVIATION.items()
    }
    latent = compare(_stored(sample, row)[:, :LATENT_VALUES], sample[:, :LATENT_VALUES]).error
    return Figure(kind, len(history), selected.shape[-1], row.cache_dtype, latent, output)


def _stored(tokens: Tensor, row: Row) -> Tensor:
    latent, rope = tokens.split([LATENT_VALUES, ROPE_VALUES], dim=-1)
    return torch.cat(decode(encode(latent, rope, row), row), dim=-1)


def _attend(queries: Tensor, tokens: Tensor) -> Tensor:
    weights = torch.softmax(queries @ tokens.transpose(-1, -2), dim=-1)
    return weights @ tokens[..., :LATENT_VALUES]


def _normal(source: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=source)
