"""What a piece and a byte cost, from transfers that differ in both."""

from collections.abc import Sequence

import msgspec
import numpy as np


class Point(msgspec.Struct, frozen=True):
    """One transfer.

    Attributes:
        pieces: Pieces posted.
        moved_bytes: Bytes moved.
        total_ms: How long it took.
    """

    pieces: int
    moved_bytes: int
    total_ms: float


class Prices(msgspec.Struct, frozen=True):
    """A linear model of a transfer, in the terms of `router.costs.Costs`.

    Attributes:
        transfer_ms: A transfer of nothing.
        piece_us: Each piece.
        transfer_gb_s: Bytes over time, without both.
    """

    transfer_ms: float
    piece_us: float
    transfer_gb_s: float

    def ms(self, pieces: int, moved_bytes: int) -> float:
        """What a transfer takes."""
        return self.transfer_ms + pieces * self.piece_us / 1e3 + moved_bytes / self.transfer_gb_s / 1e6


def fit(points: Sequence[Point]) -> Prices:
    """Fit the prices by least squares of the relative error, none of them below 0.

    Raises:
        ValueError: The points do not tell the prices apart.
    """
    wanted = np.array([point.total_ms for point in points])
    terms = np.array([[1.0, point.pieces / 1e3, point.moved_bytes / 1e6] for point in points])
    solved = _solve(terms, wanted)
    if solved[0] < 0:
        solved = np.array([0.0, *_solve(terms[:, 1:], wanted)])
    if solved[1] < 0 or solved[2] <= 0:
        raise ValueError("the points do not tell what a piece and a byte cost")
    return Prices(float(solved[0]), float(solved[1]), 1 / float(solved[2]))


def _solve(terms: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    scaled = terms / wanted[:, None]
    solved, _, rank, _ = np.linalg.lstsq(scaled, np.ones(len(wanted)))
    if rank < terms.shape[1]:
        raise ValueError("the points do not tell what a piece and a byte cost")
    return np.asarray(solved)


def from_pair(many: Point, few: Point) -> Prices:
    """Return the prices that explain two transfers of the same bytes, with nothing for a transfer of nothing."""
    piece_ms = (many.total_ms - few.total_ms) / (many.pieces - few.pieces)
    return Prices(0.0, piece_ms * 1e3, few.moved_bytes / (few.total_ms - few.pieces * piece_ms) / 1e6)
