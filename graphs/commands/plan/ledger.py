"""The ledger as a Markdown table, which a terminal shows as well: `dynamo plan --ledger > docs/ledger.md`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from graphs.memory.ledger import Claim, Verdict

_HEAD = """\
# The ledger

The checkable numbers of two published deployments of GLM-5.3, beside ours, written by `dynamo plan --ledger`. *PI* is
Prime Inference's write-up of GLM-5.3 on GB200, *vLLM* the vLLM project's on H200. *Reproduced*: ours, rounded as theirs
is printed, is the same. *Explained*: it takes an assumption, which is said. *Contradicted*: no reading that we know
gives it. *Not computable*: it was measured, or what it compares is not said.

"""
_COLUMNS = ("", "of", "what", "published", "ours", "how")


def markdown(claims: Sequence[Claim]) -> str:
    """Return the ledger as a document."""
    rows = [
        [_shown(claim.verdict), claim.source, claim.what, claim.published, claim.ours, claim.formula]
        for claim in claims
    ]
    widths = [max(len(row[place]) for row in [_COLUMNS, *rows]) for place in range(len(_COLUMNS) - 1)]
    counted = Counter(claim.verdict for claim in claims)
    summary = ", ".join(f"{counted[verdict]} {verdict}" for verdict in Verdict)
    table = "\n".join(_lines([list(_COLUMNS), ["---"] * len(_COLUMNS), *rows], widths))
    return f"{_HEAD}{table}\n\n{summary[0].upper()}{summary[1:]}.\n"


def document(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """Return the ledger for programs."""
    found: list[dict[str, Any]] = msgspec.to_builtins(claims)
    return found


def _shown(verdict: Verdict) -> str:
    return str(verdict) if verdict is Verdict.REPRODUCED else f"**{verdict}**"


def _lines(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield f"| {' | '.join([*cells, row[-1]])} |"
