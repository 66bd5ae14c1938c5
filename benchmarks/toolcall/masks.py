"""What a structural tag costs the engine: its compilation, cold, and the mask of every step under it."""

import json
import os
import statistics
import time
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
import xgrammar

from benchmarks.toolcall.markdown import number, table
from benchmarks.toolcall.vocabulary import Vocabulary
from tests.conformance.cases import DATA, load
from toolcall import ToolSet, build_tag, parse_tools, render_call

TITLE: Final = "tool calls: masks"
_SIZES: Final = (1, 5, 20, 63)
_SET: Final = 20
_TEXT: Final = "Sure. "
"""What stands before a call."""
_REPEATS: Final = 3
_SHOWN: Final = 5


class Steps(msgspec.Struct, frozen=True):
    """Microseconds of each step's mask, the least of its repetitions: what is not the machine's own noise."""

    name: str
    least: list[float]

    def percentile(self, share: float) -> float:
        """Return the least time that a share of the steps, in percent, does not exceed."""
        return float(np.percentile(self.least, share))


class Masks(msgspec.Struct, frozen=True):
    """What was measured.

    Attributes:
        compiled: Seconds, by number of tools and of threads, one a repetition.
        each: The masks of every schema under its own tag.
        together: The masks of the first 20 under one tag.
    """

    compiled: dict[str, list[float]]
    each: list[Steps]
    together: Steps


def measure(*, quick: bool) -> tuple[Masks, str]:
    """Compile the tags of the corpus and step through its valid calls."""
    cases = load("schemas.jsonl")
    vocabulary = Vocabulary([(DATA / "schemas.jsonl").read_text("utf-8")])
    repeats = 1 if quick else _REPEATS
    compiled = {
        f"{count} tools, {threads} threads": [
            _compile(vocabulary, _tools(cases[:count]), threads)[1] for _ in range(repeats)
        ]
        for count in _SIZES
        for threads in sorted({1, _all_threads()})
    }
    each = [_steps(vocabulary, str(case["id"]), [case], repeats) for case in cases]
    together = _steps(vocabulary, f"{_SET} tools", cases[:_SET], repeats)
    return Masks(compiled, each, together), ""


def _all_threads() -> int:
    return len(os.sched_getaffinity(0))


def _tools(cases: Sequence[dict[str, Any]]) -> ToolSet:
    return parse_tools([case["tool"] for case in cases])


def _compile(vocabulary: Vocabulary, tools: ToolSet, threads: int) -> tuple[xgrammar.CompiledGrammar, float]:
    """Return the tag compiled, nothing kept from before, and the seconds it took."""
    tag = json.dumps(build_tag(tools, reasoning="none"))
    compiler = xgrammar.GrammarCompiler(vocabulary.info, max_threads=threads, cache_enabled=False)
    begun = time.perf_counter()
    grammar = compiler.compile_structural_tag(tag)
    return grammar, time.perf_counter() - begun


def _steps(vocabulary: Vocabulary, name: str, cases: Sequence[dict[str, Any]], repeats: int) -> Steps:
    grammar, _ = _compile(vocabulary, _tools(cases), _all_threads())
    mask = xgrammar.allocate_token_bitmask(1, vocabulary.info.vocab_size)
    steps: list[float] = []
    for case in cases:
        for arguments in case["valid"]:
            text = _TEXT + render_call(_tools([case]).tools[0].name, arguments)
            rounds = [_masks(grammar, vocabulary.encode(text), mask) for _ in range(repeats)]
            steps += [min(times) for times in zip(*rounds, strict=True)]
    return Steps(name, steps)


def _masks(grammar: xgrammar.CompiledGrammar, tokens: list[int], mask: Any) -> list[float]:
    """Return the microseconds of the mask before each token, and behind the last."""
    matcher = xgrammar.GrammarMatcher(grammar)
    taken = []
    for token in (*tokens, None):
        begun = time.perf_counter()
        matcher.fill_next_token_bitmask(mask)
        taken.append((time.perf_counter() - begun) * 1e6)
        if token is not None and not matcher.accept_token(token):
            raise AssertionError(f"the tag refuses token {len(taken)} of a valid call")
    return taken


def report(masks: Masks) -> str:
    """Return the tables: compilation, and masks in microseconds."""
    compiled = [[name, number(1e3 * statistics.median(seconds))] for name, seconds in masks.compiled.items()]
    every = Steps("every schema, under its own tag", [step for steps in masks.each for step in steps.least])
    worst = sorted(masks.each, key=lambda steps: steps.percentile(99), reverse=True)[:_SHOWN]
    rows = [every, masks.together, *worst]
    return "\n\n".join(
        (
            table(["compilation, cold", "ms"], compiled),
            table(
                ["mask, us; the worst schemas by p99 last", "steps", "p50", "p99", "max"],
                [
                    [
                        steps.name,
                        f"{len(steps.least):,}",
                        *(number(steps.percentile(share)) for share in (50, 99, 100)),
                    ]
                    for steps in rows
                ],
            ),
        )
    )
