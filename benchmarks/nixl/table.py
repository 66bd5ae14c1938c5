"""The figures as Markdown."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from benchmarks.nixl.cases import Case
from benchmarks.nixl.peer import Times
from benchmarks.nixl.prices import Point, Prices, fit, from_pair
from components.kvcache.rows import GLM_5_3, NVFP4_DS_MLA, token_bytes
from router.costs import Costs

PUBLISHED_PIECES: Final = (19_559, 1_940)
"""Layer-major and block-major, from the Prime Inference write-up."""

PUBLISHED_MS: Final = (146.0, 78.0)

_PUBLISHED_TOKENS: Final = PUBLISHED_PIECES[0] / 101 * 1024
"""The context at which 101 regions of 1,024-token blocks make as many pieces; the write-up does not say it."""


class Measured(msgspec.Struct, frozen=True):
    """One case and all its transfers."""

    case: Case
    times: tuple[Times, ...]

    @property
    def posted(self) -> int:
        """Pieces left after merging."""
        return self.times[0].posted

    def median_ms(self, of: str) -> float:
        """Return the median of one of the times."""
        return float(statistics.median(getattr(times, of) for times in self.times))

    def times_faster(self, than: "Measured") -> float:
        """Return how many times less another case took, by the median over rounds, whose transfers are neighbours."""
        return float(
            statistics.median(other.total_ms / own.total_ms for own, other in zip(self.times, than.times, strict=True))
        )


Results = Mapping[str, Sequence[Measured]]
"""By comparison; its first two cases are layer-major and block-major."""


def number(value: float) -> str:
    """Return a number with three digits that count."""
    digits = 2 if value < 10 else 1 if value < 100 else 0  # noqa: PLR2004  # tens and hundreds
    return f"{value:,.{digits}f}"


def _ms(measured: Measured, of: str) -> str:
    values = [getattr(times, of) for times in measured.times]
    return f"{number(statistics.median(values))} ({number(min(values))}-{number(max(values))})"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def transfers(results: Results) -> str:
    """Return a table of every case: pieces, times, and the layer-major time over each."""
    head = ("context and cut", "pieces", "posted", "bytes a piece", "MB", "build, ms", "post, ms", "post to done, ms")
    rows = []
    for name, measured in results.items():
        for each in measured:
            case = each.case
            rows.append(
                (
                    f"{name}: {case.name}",
                    f"{case.pieces:,}",
                    f"{each.posted:,}",
                    f"{case.moved_bytes / each.posted:,.0f}",
                    f"{case.moved_bytes / 1e6:,.0f}",
                    number(each.median_ms("make_ms")),
                    _ms(each, "post_ms"),
                    _ms(each, "total_ms"),
                    f"{each.times_faster(measured[0]):.2f}",
                )
            )
    return _table((*head, "layer-major / this"), rows)


def ratios(results: Results) -> str:
    """Return a table of each pair's ratios beside the published ones."""
    head = ("layer-major to block-major", "pieces", "ratio", "post to done, ms", "ratio")
    rows = [
        (
            "the write-up",
            *_pair(PUBLISHED_PIECES, PUBLISHED_PIECES[0] / PUBLISHED_PIECES[1]),
            *_pair(PUBLISHED_MS, PUBLISHED_MS[0] / PUBLISHED_MS[1]),
        )
    ]
    for name, (many, few, *_) in results.items():
        times = (many.median_ms("total_ms"), few.median_ms("total_ms"))
        rows.append(
            (
                name,
                *_pair((many.posted, few.posted), many.posted / few.posted),
                *_pair(times, few.times_faster(many)),
            )
        )
    return _table(head, rows)


def _pair(pair: tuple[float, float], ratio: float) -> tuple[str, str]:
    return f"{pair[0]:,.0f} → {pair[1]:,.0f}", f"{ratio:.2f}"


def published_prices() -> Prices:
    """What the write-up's two transfers imply, if both moved what 19,559 pieces say, in 352-byte rows."""
    moved = int(_PUBLISHED_TOKENS * token_bytes(GLM_5_3, NVFP4_DS_MLA).all_bytes)
    many, few = (Point(pieces, moved, total) for pieces, total in zip(PUBLISHED_PIECES, PUBLISHED_MS, strict=True))
    return from_pair(many, few)


def measured_prices(results: Results) -> Prices:
    """Fit the prices to the medians of all cases of used pools: a merged piece is of another size by far.

    Raises:
        ValueError: They do not tell the prices apart.
    """
    return fit(
        [
            Point(each.posted, each.case.moved_bytes, each.median_ms("total_ms"))
            for measured in results.values()
            for each in measured
            if not each.case.fresh
        ]
    )


def prices(results: Results) -> str:
    """Return a table of the prices measured, implied by the write-up, and held by the router."""
    rows = []
    try:
        rows.append(_priced("measured here: least squares over the cases of used pools", measured_prices(results)))
    except ValueError as error:
        rows.append((f"measured here: {error}", "-", "-", "-"))
    rows.append(_priced("implied by the write-up's two transfers", published_prices()))
    costs = Costs()
    held = Prices(costs.transfer_ms, costs.piece_us, costs.transfer_gb_s)
    rows.append(_priced("`router/costs.py`", held))
    return _table(("prices", "`transfer_ms`", "`piece_us`", "`transfer_gb_s`"), rows)


def _priced(name: str, some: Prices) -> tuple[str, str, str, str]:
    return name, number(some.transfer_ms), number(some.piece_us), number(some.transfer_gb_s)


def report(results: Results) -> str:
    """Return all tables."""
    return "\n\n".join((transfers(results), ratios(results), prices(results)))
