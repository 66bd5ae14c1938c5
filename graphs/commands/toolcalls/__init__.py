"""`dynamo toolcall`: the tool-call library on the command line, a JSON object a line in and out.

The library is imported by the command that uses it: `dynamo serve` starts without.
"""

# ruff: noqa: PLC0415 - see above.

from pathlib import Path
from typing import Annotated

import typer

from graphs.commands import options

app = typer.Typer(help="GLM's tool calls: read outputs, build tags, try texts against them.", no_args_is_help=True)


@app.command()
def parse(
    chunks: Annotated[
        str, typer.Option(help="How the output comes: whole, chars, or a seed for random pieces.", metavar="HOW")
    ] = "whole",
) -> int:
    """Read cases, a JSON object a line, and write what each output means: {id, reasoning, content, tool_calls, ...}."""
    from graphs.commands.toolcalls.parse import run

    return run(chunks)


@app.command()
def tag() -> int:
    """Read {tools, tool_choice?, parallel_tool_calls?, reasoning?} a line and write the structural tag, or null."""
    from graphs.commands.toolcalls.tag import run

    return run()


@app.command()
def accepts() -> int:
    """Read {tools, tool_choice?, parallel_tool_calls?, reasoning?, text} a line and write {accepted, at}.

    `at` is the place in the text, in bytes of UTF-8, where it is refused: the start of the first token that is, or the
    end of a text that ends too soon; null where the text is accepted.
    """
    from graphs.commands.toolcalls.accepts import run

    return run()


@app.command()
def conformance(
    against: Annotated[
        list[str] | None,
        typer.Option(help="Run this parser beside ours: dynamo, dynamo-v2, vllm or sglang.", metavar="NAME"),
    ] = None,
    suite: Annotated[Path | None, typer.Option(help="A folder of cases; by default the published ones.")] = None,
    chunkings: Annotated[int, typer.Option(min=0, help="Random ways to cut each output for ours.")] = 200,
    as_json: options.Json = False,
) -> int:
    """Run the published suite over our parser and tag, and over others: how many cases of each fault class are right.

    The exit code is 1 if anything of ours is wrong, whatever the others do.
    """
    from graphs.commands.toolcalls.conformance.run import run

    return run(against or (), suite, chunkings, as_json=as_json)
