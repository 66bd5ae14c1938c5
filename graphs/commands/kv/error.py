"""`dynamo kv error`: see what was asked, measure, and report."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from components.kvcache.rows import BF16, FP8, FP8_DS_MLA, NVFP4_DS_MLA
from graphs.commands.progress import bar
from graphs.errors import Refusal

if TYPE_CHECKING:
    from graphs.commands.kv.text import Report

ROWS: Final = (NVFP4_DS_MLA, FP8_DS_MLA, FP8, BF16)
"""The formats, the smallest first; bf16 shows what a difference of any kind comes to in the model."""

CONTEXTS: Final = (2048, 8192, 32_768, 140_000)
"""History on made-up latents, tokens."""

INDEX_TOPK: Final = 2048
"""GLM-5.3's `index_topk`."""

SMALL_TOPK: Final = 64
"""Of 4,096 tokens what 2,048 are of 140,000: one in 64."""

Told = Callable[[int], None]


class Ask(msgspec.Struct, frozen=True):
    """What was asked.

    Attributes:
        context: Tokens that the model reads.
        turns: Turns that they fall into.
        topk: `index_topk` of the small model.
        model: Folder of a model with real weights.
        text: What it reads.
        seed: Of all that is random.
    """

    context: int
    turns: int
    topk: int | None
    model: Path | None
    text: Path | None
    seed: int

    def check(self) -> None:
        """See that it can be done, before anything takes time.

        Raises:
            Refusal: It cannot.
        """
        missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
        if missing:
            raise Refusal(f"kv error needs {' and '.join(missing)}: pip install {' '.join(missing)}")
        if self.turns > self.context:
            raise Refusal(
                f"--turns {self.turns}: --context {self.context} has fewer tokens: ask for fewer turns, or more context"
            )
        if self.model is not None and self.text is None:
            raise Refusal(
                "--model: a trained model says nothing of made-up tokens: name a text for it with --text FILE"
            )
        if self.model is None and self.text is not None:
            raise Refusal("--text: the small model reads made-up tokens: leave it out, or name a --model")
        if self.model is not None and self.topk is not None:
            raise Refusal("--topk: a model's config.json says how many tokens it attends to: leave it out with --model")


def run(ask: Ask, *, as_json: bool) -> int:
    """Measure and report; the exit code.

    Raises:
        Refusal: What was asked cannot be done.
    """
    ask.check()
    from graphs.commands.kv.text import text  # noqa: PLC0415 - it imports torch.

    model, ids = _model(ask)
    report = _measure(ask, model, ids)
    if as_json:
        sys.stdout.write(json.dumps(msgspec.to_builtins(report)) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in text(report))
    return 0


def _measure(ask: Ask, model: Any, ids: Any) -> "Report":
    from components.kvcache.error import conversation, made_up  # noqa: PLC0415 - they import torch.
    from graphs.commands.kv.text import Report  # noqa: PLC0415

    figures: list[made_up.Figure] = []
    with _progress("made-up latents", len(made_up.Kind) * len(CONTEXTS) * len(ROWS)) as told:
        for kind in made_up.Kind:
            for figure in made_up.measure(kind, CONTEXTS, INDEX_TOPK, ROWS, ask.seed):
                figures.append(figure)
                told(1)
    with _progress("conversation", len(ids)) as told:
        talked = conversation.measure(model, ids, ask.turns, ROWS, told)
    name = "a small random model" if ask.model is None else str(ask.model)
    return Report(figures, name, model.config.index_topk, talked)


def _model(ask: Ask) -> tuple[Any, Any]:
    """Return the model and the tokens that it reads."""
    if ask.model is None or ask.text is None:
        from components.kvcache.error.small import made_up_tokens, small_model  # noqa: PLC0415 - it imports torch.

        return small_model(ask.context, ask.topk or SMALL_TOPK, ask.seed), made_up_tokens(ask.context, ask.seed)
    from components.kvcache.error.loaded import load_model, text_tokens  # noqa: PLC0415 - as above.

    try:
        ids = text_tokens(ask.model, ask.text.read_text(encoding="utf-8"), ask.context)
    except OSError as error:
        raise Refusal(f"--text {ask.text}: {error.strerror}") from error
    except ValueError as error:
        raise Refusal(f"--text {ask.text}: {error}") from error
    try:
        model = load_model(ask.model)
    except ValueError as error:
        raise Refusal(f"--model {ask.model}: {error}") from error
    return model, ids.to(model.device)


@contextmanager
def _progress(what: str, total: int) -> Iterator[Told]:
    with bar() as shown:
        task = shown.add_task(what, total=total)
        yield lambda done: shown.advance(task, done)
