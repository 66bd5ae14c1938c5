"""`dynamo config schema`: what a configuration file may say, for editors."""

import json
import sys

import typer

from graphs.commands import options
from graphs.schema import schema as schema_of

app = typer.Typer(help="What a configuration file may say.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `schema` a subcommand, although it is the only one."""


@app.command()
def schema(target: options.Target = options.DEFAULT_TARGET, working_dir: options.WorkingDir = None) -> int:
    """Write the JSON Schema of a graph's configuration file."""
    sys.stdout.write(json.dumps(schema_of(options.load_graph(target, working_dir)), indent=2) + "\n")
    return 0
