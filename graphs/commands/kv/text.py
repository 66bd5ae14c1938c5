"""The errors as Markdown tables."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from components.kvcache.error.conversation import Conversation, Figure
from components.kvcache.error.made_up import Figure as MadeUp
from components.kvcache.error.made_up import Focus
from components.kvcache.error.sums import Error


class Report(msgspec.Struct, frozen=True):
    """What was measured.

    Attributes:
        made_up: On made-up latents.
        model: Which model read the conversation.
        topk: Tokens that its tokens attend to.
        conversation: How it went.
    """

    made_up: list[MadeUp]
    model: str
    topk: int
    conversation: Conversation


def text(report: Report) -> Iterator[str]:
    """Yield the lines of the report."""
    selected = max(figure.selected_tokens for figure in report.made_up)
    yield "Errors are relative L2; in brackets the largest difference over the root mean square."
    yield from _by_row("Made-up latents", report.made_up, lambda each: each.latent)
    for focus in Focus:
        title = f"Attention over {selected:,} of them, {focus}"
        yield from _by_row(title, report.made_up, partial(_output, focus))
    talked = report.conversation
    yield ""
    yield f"A conversation of {talked.context_tokens[-1]:,} tokens, attention over {report.topk:,}: {report.model}"
    yield from _by_turn("Latents as they are read", talked, lambda each: _relative(each.stored))
    yield from _by_turn("Attention's output", talked, lambda each: _relative(each.output))
    yield from _by_turn("KL divergence of the next token, nats", talked, lambda each: f"{each.divergence or 0:.4f}")
    yield from _by_turn("Same most likely token", talked, lambda each: f"{each.agreement or 0:.1%}")
    yield from _by_turn("Same selection", talked, lambda each: f"{each.selection or 0:.1%}")
    yield from _by_layer("Latents before they are encoded", talked, lambda each: each.given)
    yield from _by_layer("Latents as they are read", talked, lambda each: each.stored)
    yield from _by_layer("Attention's output", talked, lambda each: each.output)
    yield ""
    yield from (f"from the middle turn to the last, {run}: {_growth(turns)}" for run, turns in talked.by_turn.items())


def _output(focus: Focus, figure: MadeUp) -> Error:
    return figure.output[focus]


def _by_row(title: str, figures: Sequence[MadeUp], of: Callable[[MadeUp], Error]) -> Iterator[str]:
    rows = list(dict.fromkeys(each.row for each in figures))
    cells: dict[tuple[str, int], list[str]] = {}
    for each in figures:
        error = of(each)
        cell = f"{_relative(error)} ({error.largest:.2f})"
        cells.setdefault((each.kind.value, each.context_tokens), []).append(cell)
    yield from _header(title, "context", *rows)
    yield from (_row(kind, f"{context:,}", *line) for (kind, context), line in cells.items())


def _by_turn(title: str, talked: Conversation, cell: Callable[[Figure], str]) -> Iterator[str]:
    yield from _header(f"{title}; context", *talked.by_turn)
    for context, *figures in zip(talked.context_tokens, *talked.by_turn.values(), strict=True):
        yield _row(f"{context:,}", *map(cell, figures))


def _by_layer(title: str, talked: Conversation, of: Callable[[Figure], Error]) -> Iterator[str]:
    yield from _header(f"{title}; layer", *talked.by_layer)
    for layer, figures in enumerate(zip(*talked.by_layer.values(), strict=True)):
        yield _row(f"{layer}", *(_relative(of(each)) for each in figures))


def _growth(turns: Sequence[Figure]) -> str:
    """How the last turn's errors compare with the middle one's, where selections have long been full."""
    middle, last = turns[(len(turns) - 1) // 2], turns[-1]
    pairs = {"latents": (middle.stored, last.stored), "output": (middle.output, last.output)}
    return ", ".join(
        f"{name} x{after.relative / (before.relative or 1):.2f}" for name, (before, after) in pairs.items()
    )


def _relative(error: Error) -> str:
    return f"{error.relative:.2%}"


def _header(*names: str) -> Iterator[str]:
    yield ""
    yield _row(*names)
    yield _row("---", *("--:" for _ in names[1:]))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
