"""`dynamo toolcall conformance`: run the suite and report."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from graphs.commands.toolcalls.conformance import ours, peers
from graphs.commands.toolcalls.conformance.results import Outcome, Parser
from graphs.commands.toolcalls.conformance.schemas import judge_schemas
from graphs.commands.toolcalls.conformance.suite import load, published
from graphs.commands.toolcalls.conformance.table import table
from graphs.commands.toolcalls.conformance.tags import judge_tags


def run(against: Sequence[str], folder: Path | None, chunkings: int, *, as_json: bool) -> int:
    """Judge every case, write the results, and return the exit code: 1 if anything of ours is wrong.

    Args:
        against: Other parsers to run beside ours; what they get wrong does not change the exit code.
        folder: The suite; by default the published one.
        chunkings: How many random ways to cut each output for our parser.
        as_json: Write one JSON document instead of a table.

    Raises:
        Refusal: The suite cannot be read, or a parser cannot be run.
    """
    peers.check_names(against)
    suite = load(folder or published())
    parsers = [*(peers.ask(name, suite.cases) for name in dict.fromkeys(against))]
    parsers.insert(0, ours.parser(suite.cases, chunkings))
    tags, schemas = judge_tags(suite.tags), judge_schemas(suite.schemas)
    wrong = [*_wrong(parsers[0]), *tags.wrong, *schemas.wrong]
    if as_json:
        report = {"suite": str(suite.folder), "parsers": [parser.plain() for parser in parsers]}
        _write_json(report | {"tags": tags, "schemas": schemas, "wrong": wrong})
    else:
        lines = [table(parsers), f"Ours also in {chunkings} random chunkings of every output."]
        lines += [str(part) for part, cases in ((tags, suite.tags), (schemas, suite.schemas)) if cases]
        sys.stdout.write("\n".join([*lines, *(f"WRONG {each}" for each in wrong)]) + "\n")
    return 1 if wrong else 0


def _write_json(report: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(msgspec.to_builtins(report)) + "\n")


def _wrong(parser: Parser) -> Iterator[str]:
    for result in parser.results:
        for outcome in (result.whole, result.streamed):
            if not outcome.right:
                yield f"{result.id}, {outcome.cut}: {_why(outcome)}"
        if not result.agree:
            yield f"{result.id}, {result.streamed.cut}: read otherwise than whole"


def _why(outcome: Outcome) -> str:
    return outcome.error or ", ".join(outcome.wrong)
