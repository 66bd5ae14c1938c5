"""The suite's texts against the tags of their requests."""

from collections.abc import Sequence

import msgspec

from graphs.commands.toolcalls.conformance.suite import TagCase
from graphs.commands.toolcalls.matcher import compile_tag, refused_at
from toolcall import SchemaError, build_tag


class TagReport(msgspec.Struct, frozen=True):
    """How many texts there are, and what is wrong with each that came out otherwise than it must."""

    cases: int
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        return f"Tags: {self.cases - len(self.wrong)} of {self.cases} texts accepted or refused as they must be."


def judge_tags(cases: Sequence[TagCase]) -> TagReport:
    """Try each text against its tag."""
    problems = ((case.id, _problem(case)) for case in cases)
    return TagReport(len(cases), tuple(f"{name}: {problem}" for name, problem in problems if problem))


def _problem(case: TagCase) -> str | None:
    try:
        tag = build_tag(case.read(), reasoning=case.reasoning)
        at = None if tag is None else refused_at(compile_tag(tag), case.text)
    except (SchemaError, RuntimeError) as error:
        # xgrammar raises the latter where it cannot compile a tag.
        return str(error).strip()
    if (at is None) is case.accepted:
        return None
    return "accepted, and must be refused" if at is None else f"refused at byte {at}, and must be accepted"
