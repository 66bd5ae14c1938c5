"""How many adversarial texts the tags admit, and how many of those break their promise: none may.

Every tool of the corpus is attacked under its own tag, over a vocabulary of bytes and GLM's markers, which admits every
text that any other vocabulary does.
"""

from typing import Any, Final

import msgspec
import xgrammar

from benchmarks.toolcall.markdown import table
from tests.conformance.cases import load, seeded
from tests.toolcall.adversary import attack
from tests.toolcall.glm_matcher import admits, compile_tag
from tests.toolcall.judge import unsound
from toolcall import ToolSet, build_tag, parse_tools

TITLE: Final = "tool calls: smuggling"
_SEED: Final = "smuggling"
_TEXTS: Final = 100_000
_QUICK: Final = 2_000


class Attacks(msgspec.Struct):
    """How the attacks went.

    Attributes:
        texts: All texts.
        admitted: Those that a tag let through: mostly calls that are valid after all.
        unsound: Of those, each that breaks the promise, and how.
    """

    texts: int
    admitted: int
    unsound: list[str]


def measure(*, quick: bool) -> tuple[Attacks, str]:
    """Attack, the same way every time."""
    rng = seeded(_SEED)
    targets = [_target(case) for case in load("schemas.jsonl") if case["valid"]]
    attacks = Attacks(_QUICK if quick else _TEXTS, 0, [])
    for _ in range(attacks.texts):
        case, tools, grammar = rng.choice(targets)
        text = attack(tools.tools[0].name, case["valid"], rng)
        if not admits(grammar, text):
            continue
        attacks.admitted += 1
        problem = unsound(tools, text)
        if problem is not None:
            attacks.unsound.append(f"{case['id']}: {text!r}: {problem}")
    return attacks, f"Seed {_SEED!r}"


def _target(case: dict[str, Any]) -> tuple[dict[str, Any], ToolSet, xgrammar.CompiledGrammar]:
    tools = parse_tools([case["tool"]])
    tag = build_tag(tools, reasoning="none")
    assert tag is not None  # noqa: S101 - there is a tool
    return case, tools, compile_tag(tag)


def report(attacks: Attacks) -> str:
    """Return the table, and every text that broke the promise."""
    counts = table(
        ["adversarial texts", "", "share"],
        [
            ["all", f"{attacks.texts:,}", ""],
            ["admitted", f"{attacks.admitted:,}", f"{attacks.admitted / attacks.texts:.1%}"],
            ["admitted and unsound", f"{len(attacks.unsound):,}", ""],
        ],
    )
    return "\n".join([counts, *(f"\n    {problem}" for problem in attacks.unsound)])
