"""The error of a model that reads its own rows through a conversation, by turn and by layer, beside exact rows.

Every run gets the same tokens, so that what differs are rows and what came of them: most of a turn is read in steps as
a prefill engine would, the end of it token by token as a decode engine does.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec
import torch
from torch import Tensor

from components.kvcache.error.reading import Reader, Run, Seen
from components.kvcache.error.sums import Error, Sums, compare
from components.kvcache.rows import NVFP4_DS_MLA, Row

STEP_TOKENS: Final = 64
"""Tokens read at once."""

DECODED_TOKENS: Final = 16
"""Tokens of a turn that are read one by one."""

AGAIN: Final = f"{NVFP4_DS_MLA.cache_dtype}, encoded again each turn"
LED: Final = f"{NVFP4_DS_MLA.cache_dtype}, exact selection"

Told = Callable[[int], None]
"""Takes the tokens of a step once all runs have read them."""


class Layer(msgspec.Struct, frozen=True):
    """Sums of one layer, or of several.

    Attributes:
        given: Latents as they came to the cache: the error that earlier layers made.
        stored: Latents as the cache gives them back: that and the row's own.
        output: What attention adds to the residual stream.
    """

    given: Sums = Sums()
    stored: Sums = Sums()
    output: Sums = Sums()

    def __add__(self, other: "Layer") -> "Layer":
        return Layer(self.given + other.given, self.stored + other.stored, self.output + other.output)


class Words(msgspec.Struct, frozen=True):
    """What the model says, summed over tokens.

    Attributes:
        tokens: How many.
        divergence: Kullback-Leibler divergence of its next-token distribution from the exact run's, nats.
        agreed: Tokens whose most likely successor is the exact run's.
        shared: Of the tokens that the exact run selects, those that the run selects too, over all indexers.
        selected: Tokens that the exact run selects.
    """

    tokens: int = 0
    divergence: float = 0.0
    agreed: int = 0
    shared: int = 0
    selected: int = 0

    def __add__(self, other: "Words") -> "Words":
        return Words(
            self.tokens + other.tokens,
            self.divergence + other.divergence,
            self.agreed + other.agreed,
            self.shared + other.shared,
            self.selected + other.selected,
        )


class Figure(msgspec.Struct, frozen=True):
    """The error of one run over some tokens and layers.

    Attributes:
        given: Of latents before they are encoded.
        stored: Of latents as they are read.
        output: Of attention's output.
        divergence: Kullback-Leibler divergence of the next token's distribution, nats; none for a single layer.
        agreement: Share of tokens with the same most likely successor; likewise.
        selection: Share of the exact run's selected tokens that the run selects as well; likewise.
    """

    given: Error
    stored: Error
    output: Error
    divergence: float | None = None
    agreement: float | None = None
    selection: float | None = None


class Conversation(msgspec.Struct, frozen=True):
    """The error of all runs.

    Attributes:
        context_tokens: By turn, the history at its end.
        by_turn: For each run, the figures of its turns.
        by_layer: For each run, the figures of its layers over the whole conversation.
    """

    context_tokens: list[int]
    by_turn: dict[str, list[Figure]]
    by_layer: dict[str, list[Figure]]


class _Account:
    """What one run missed, turn by turn."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.layers: list[list[Layer]] = []
        self.words: list[Words] = []

    def begin(self) -> None:
        """Begin a turn."""
        self.layers.append([Layer()] * len(self.run.caches))
        self.words.append(Words())
        if self.run.name == AGAIN:
            for cache in self.run.caches:
                cache.encode_again()

    def add(self, found: Tensor, wanted: Tensor, exact: Run) -> None:
        """Add a step that the run and the exact one have just read, with their logits."""
        pairs = zip(self.layers[-1], self.run.seen, exact.seen, strict=True)
        self.layers[-1] = [before + _layer(ours, theirs) for before, ours, theirs in pairs]
        self.words[-1] += _words(found, wanted, self.run, exact)

    def by_turn(self) -> list[Figure]:
        """Return the figures of each turn, all layers together."""
        return [_figure(sum(turn, Layer()), said) for turn, said in zip(self.layers, self.words, strict=True)]

    def by_layer(self) -> list[Figure]:
        """Return the figures of each layer, all turns together."""
        return [_figure(sum(layer, Layer())) for layer in zip(*self.layers, strict=True)]


def measure(model: Any, ids: Tensor, turns: int, rows: Sequence[Row], told: Told) -> Conversation:
    """Let a model read tokens with exact rows and with each format, and compare.

    Args:
        model: A `GlmMoeDsaForCausalLM`.
        ids: `[tokens]`, the whole conversation.
        turns: Into how many equal turns it falls.
        rows: The formats.
        told: Called after each step.
    """
    reader, size = Reader(model), len(ids)
    exact = reader.run("exact", None, size)
    runs = [reader.run(row.cache_dtype, row, size) for row in rows]
    runs += [reader.run(AGAIN, NVFP4_DS_MLA, size), reader.run(LED, NVFP4_DS_MLA, size, exact)]
    accounts, ends = [_Account(run) for run in runs], []
    for turn in ids.tensor_split(turns):
        for account in accounts:
            account.begin()
        for step in _steps(turn):
            wanted = reader.read(exact, step)
            for account in accounts:
                account.add(reader.read(account.run, step), wanted, exact)
            told(len(step))
        ends.append(exact.tokens)
    return Conversation(
        ends,
        {account.run.name: account.by_turn() for account in accounts},
        {account.run.name: account.by_layer() for account in accounts},
    )


def _steps(turn: Tensor) -> Iterator[Tensor]:
    prompt = max(len(turn) - DECODED_TOKENS, 0)
    yield from turn[:prompt].split(STEP_TOKENS) if prompt else ()
    yield from turn[prompt:].split(1)


def _layer(found: Seen, wanted: Seen) -> Layer:
    return Layer(
        compare(found.latent, wanted.latent),
        compare(found.stored, wanted.latent),
        compare(found.output, wanted.output),
    )


def _words(found: Tensor, wanted: Tensor, run: Run, exact: Run) -> Words:
    logs, wanted_logs = torch.log_softmax(found.float(), -1), torch.log_softmax(wanted.float(), -1)
    shared = selected = 0
    for ours, theirs in zip(run.seen, exact.seen, strict=True):
        if ours.selected is not None and theirs.selected is not None:
            shared += _shared(ours.selected, theirs.selected, run.tokens)
            selected += theirs.selected.numel()
    return Words(
        len(found),
        (wanted_logs.exp() * (wanted_logs - logs)).sum().item(),
        int((found.argmax(-1) == wanted.argmax(-1)).sum()),
        shared,
        selected,
    )


def _shared(ours: Tensor, theirs: Tensor, context: int) -> int:
    marks = torch.zeros(len(ours), context, dtype=torch.bool, device=ours.device)
    return int(marks.scatter_(1, ours, value=True).gather(1, theirs).sum())


def _figure(layer: Layer, words: Words | None = None) -> Figure:
    errors = (layer.given.error, layer.stored.error, layer.output.error)
    if words is None:
        return Figure(*errors)
    tokens = max(words.tokens, 1)
    return Figure(*errors, words.divergence / tokens, words.agreed / tokens, words.shared / max(words.selected, 1))
