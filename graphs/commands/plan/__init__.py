"""`dynamo plan`: where each engine's GPU memory goes, and what is left for sessions, from the configuration alone."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from graphs.commands import options
from graphs.commands.pictures import check
from graphs.commands.plan.document import document
from graphs.commands.plan.engines import Given, Planned, planned
from graphs.commands.plan.ledger import document as ledger_document
from graphs.commands.plan.ledger import markdown
from graphs.commands.plan.text import text
from graphs.errors import Refusal
from graphs.memory import calibration
from graphs.memory.devices import DEVICES, GIB, Device, device
from graphs.memory.weights import CHECKPOINTS
from graphs.nearest import did_you_mean
from graphs.ratio.claims import ledger as claims

_SESSION_TOKENS = 140_000
_TARGET_TOK_S = 60.0

Gpu = Annotated[str | None, typer.Option(help="GPU of every engine, instead of the file's: h100, h200, b200, gb200.")]
HbmGib = Annotated[float | None, typer.Option(help="Memory of another GPU, in GiB, as its driver reports it.", min=1)]
Model = Annotated[Path | None, typer.Option(help="A checkpoint's folder, for exact sizes, or its config.json.")]
Weights = Annotated[str | None, typer.Option(help="Format of the weights, instead of what the model's name says.")]
SessionTokens = Annotated[int, typer.Option(help="Length of a session, in tokens.", min=1)]
Assume = Annotated[list[str] | None, typer.Option(metavar="NAME=GIB", help="A rung that is assumed, by its name.")]
Calibrate = Annotated[
    list[str] | None,
    typer.Option(metavar="[SERVICE=]FILE", help="A log of vLLM's start, to measure what is assumed otherwise."),
]
Trace = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Recorded sessions, as `dynamo replay` takes: balance the two sides."),
]
Workload = Annotated[
    str | None,
    typer.Option(metavar="MEANS", help="The same for `agents` that are made up, or turns=60,new=1200,context=140000,…"),
]
Ratios = Annotated[str | None, typer.Option(metavar="P:D[,P:D]", help="Engines of each side to try. 1:1 to 1:6")]
Sessions = Annotated[
    str | None, typer.Option(metavar="N[,N]", help="Sessions at once to try; by default about what should be served.")
]
TargetTokS = Annotated[float, typer.Option(help="E2E tok/s that each user is to have.", min=0.1)]
ThinkCapS = Annotated[float | None, typer.Option(help="Longest wait between two turns.", min=0)]
Seed = Annotated[int, typer.Option(help="Of what is made up or shuffled.", min=0)]
Measurements = Annotated[
    list[str] | None, typer.Option("--measured", metavar="NAME=NUMBER", help="A measurement of your own: itl-ms=8.")
]
Ledger = Annotated[bool, typer.Option("--ledger", help="Only the published numbers beside ours, as Markdown.")]
Plot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the ladders, or the ratios; .png or .svg, needs matplotlib.")
]


def plan(
    context: typer.Context,
    *,
    target: options.Target = options.DEFAULT_TARGET,
    file: options.File = None,
    gpu: Gpu = None,
    hbm_gib: HbmGib = None,
    model: Model = None,
    weights: Weights = None,
    session_tokens: SessionTokens = _SESSION_TOKENS,
    assume: Assume = None,
    calibrate: Calibrate = None,
    trace: Trace = None,
    workload: Workload = None,
    ratios: Ratios = None,
    sessions: Sessions = None,
    target_tok_s: TargetTokS = _TARGET_TOK_S,
    think_cap_s: ThinkCapS = None,
    seed: Seed = 0,
    measured: Measurements = None,
    plot: Plot = None,
    ledger: Ledger = False,
    as_json: options.Json = False,
    working_dir: options.WorkingDir = None,
) -> int:
    """Show the memory ladder of each vLLM engine, and how many sessions fit. Exit code 1 if one does not fit.

    With --trace or --workload also how many decode engines a prefill engine feeds, and what each ratio serves.
    """
    if ledger:
        sys.stdout.write(json.dumps(ledger_document(claims()), indent=2) + "\n" if as_json else markdown(claims()))
        return 0
    # Before the working directory becomes another.
    if plot:
        check(plot)
        plot = plot.absolute()
    given = Given(
        _device(gpu, hbm_gib),
        model.absolute() if model else None,
        _weights(weights),
        _assumed(assume or ()),
        _startups(calibrate or ()),
    )
    asked = None
    if trace is not None or workload is not None:
        from graphs.commands.plan.ask import Numbers, ask  # noqa: PLC0415 - other commands start without the replay.

        numbers = Numbers(target_tok_s, think_cap_s, seed)
        asked = ask(trace, workload, ratios, sessions, given=measured or [], numbers=numbers, plot=plot)
    elif ratios or sessions or measured:
        raise Refusal("--ratios, --sessions and --measured need sessions to replay: give --trace or --workload")
    engines = planned(options.load_config(target, file, context.obj, working_dir), given)
    if asked is not None:
        from graphs.commands.plan.report import report  # noqa: PLC0415 - as above.

        report(asked, engines, session_tokens, as_json=as_json)
    else:
        _show(engines, session_tokens, plot, as_json=as_json)
    return 0 if all(not each.ladder.missing_bytes for each in engines) else 1


def _show(engines: Sequence[Planned], session_tokens: int, plot: Path | None, *, as_json: bool) -> None:
    if plot:
        from graphs.commands.plan.pictures import draw  # noqa: PLC0415 - matplotlib takes a second.

        draw(plot, engines)
    if as_json:
        sys.stdout.write(json.dumps(document(engines, session_tokens), indent=2) + "\n")
    else:
        sys.stdout.writelines(text(engines, session_tokens, colour=sys.stdout.isatty()))


def _device(gpu: str | None, hbm_gib: float | None) -> Device | None:
    if hbm_gib is not None:
        if not math.isfinite(hbm_gib):
            raise Refusal(f"--hbm-gib {hbm_gib}: write a number of GiB, such as 140.4")
        known = DEVICES.get((gpu or "").lower(), Device(gpu or f"{hbm_gib:g} GiB", 0))
        return msgspec.structs.replace(known, hbm_bytes=round(hbm_gib * GIB))
    return None if gpu is None else device(gpu)


def _weights(name: str | None) -> str | None:
    if name is not None and name not in CHECKPOINTS:
        raise Refusal(f"--weights {name}: {did_you_mean(name, list(CHECKPOINTS))}")
    return name


def _assumed(given: Sequence[str]) -> Mapping[str, int]:
    found = {}
    for each in given:
        name, _, gib = each.partition("=")
        try:
            size = float(gib)
        except ValueError:
            size = math.nan
        if not 0 <= size < math.inf:
            raise Refusal(f"--assume {each}: write NAME=GIB, such as cuda-graphs=2.5")
        found[name] = round(size * GIB)
    return found


def _startups(given: Sequence[str]) -> Mapping[str, calibration.Startup]:
    found = {}
    for each in given:
        name, named, path = each.rpartition("=")
        found[name if named else ""] = calibration.read(Path(path))
    return found
