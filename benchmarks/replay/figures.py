"""The figures on which two replays must agree."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """One run.

    Attributes:
        reuse_ratio: Prompt tokens found cached over prompt tokens.
        rank_load_max_over_mean: New tokens of the busiest prefill rank over the mean rank's.
    """

    reuse_ratio: float
    rank_load_max_over_mean: float
