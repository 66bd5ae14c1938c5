"""The `dynamo` command: what it is called with, and how it ends.

Bad input ends with exit code 2 and one line for each problem, or with one JSON line where `--json` was asked for.
"""

import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer
from typer.exceptions import TyperException

from graphs import overrides
from graphs.commands import configuration
from graphs.commands.describe import describe
from graphs.commands.doctor import doctor
from graphs.commands.kv import app as kv
from graphs.commands.plan import plan
from graphs.commands.replay import replay
from graphs.commands.serve import serve
from graphs.commands.toolcalls import app as toolcalls
from graphs.errors import Refusal

app = typer.Typer(
    name="dynamo",
    help="NVIDIA Dynamo graphs that serve GLM-5.3 to agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("serve")(serve)
app.command("graphs")(describe)
app.command("doctor")(doctor)
app.command("plan")(plan)
app.command("replay")(replay)
app.add_typer(configuration.app, name="config")
app.add_typer(kv, name="kv")
app.add_typer(toolcalls, name="toolcall")


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"dynamo-glm {version('dynamo-glm')}, ai-dynamo {version('ai-dynamo')}\n")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the versions.")
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Run one command; the exit code."""
    try:
        rest, given = overrides.split(arguments)
        code = typer.main.get_command(app).main(rest, prog_name="dynamo", standalone_mode=False, obj=given)
    except Refusal as refusal:
        return _refuse(refusal.problems, as_json="--json" in arguments)
    except TyperException as error:
        return _refuse((error.format_message().replace("\n", " "),), as_json="--json" in arguments)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    return code if isinstance(code, int) else 0


def main() -> None:
    """Run the command that the shell was given."""
    sys.exit(run(sys.argv[1:]))


def _refuse(problems: Sequence[str], *, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps({"errors": list(problems)}) + "\n")
    else:
        sys.stderr.writelines(f"dynamo: {problem}\n" for problem in problems)
    return 2
