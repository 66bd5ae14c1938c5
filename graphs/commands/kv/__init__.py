"""`dynamo kv`: the rows that a KV cache is made of.

What measures them needs torch, and is imported by the command that uses it: `dynamo serve` starts without.
"""

# ruff: noqa: PLC0415 - see above.

from pathlib import Path
from typing import Annotated

import typer

from graphs.commands import options

_MOST_TOKENS = 1_048_576
"""`max_position_embeddings` of GLM-5.3's `config.json`."""

_MOST_SEED = 2**63 - 1
"""PyTorch keeps it in 64 bits."""

app = typer.Typer(help="KV rows: the error that their formats make.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    # With one command alone, typer would leave out its name.
    pass


@app.command()
def error(
    *,
    context: Annotated[
        int, typer.Option(min=64, max=_MOST_TOKENS, help="Tokens of the conversation that the model reads.")
    ] = 4096,
    turns: Annotated[int, typer.Option(min=1, help="Turns of that conversation.")] = 8,
    topk: Annotated[
        int | None,
        typer.Option(min=1, help="Tokens that a token of the small model attends to: 64.", show_default=False),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="A checkpoint of glm_moe_dsa, instead of a small random model."),
    ] = None,
    text: Annotated[Path | None, typer.Option(metavar="FILE", help="What that model reads.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=_MOST_SEED, help="Of latents, weights and tokens.")] = 0,
    as_json: options.Json = False,
) -> int:
    """Measure the error of each row format: on made-up latents up to 140,000 tokens, and in a model that reads its own.

    Takes a minute on an idle core, and more with --context and --topk: hours, and 10 GB, for 140000 and 2048. Needs
    torch and transformers.
    """
    from graphs.commands.kv.error import Ask, run

    return run(Ask(context, turns, topk, model, text, seed), as_json=as_json)
