"""`dynamo toolcall`: the tool-call library on the command line, a JSON object a line in and out.

The library is imported by the command that uses it: `dynamo serve` starts without.
"""

# ruff: noqa: PLC0415 - see above.

from typing import Annotated

import typer

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
