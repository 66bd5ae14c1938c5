"""How far off each part of a sum is, learnt from the sums: recursive least squares over logarithms.

A duration is known to be a sum of parts, each a price times an amount. With starting prices the parts are known as
well, but for a factor each. The logarithms of the factors are the state of an extended Kalman filter: it starts at 0
with a wide spread, which is the regularisation; each sum moves those that matter for it; and drift, which is the
forgetting, keeps it from settling for ever. In logarithms an error is relative, three times too dear weighs as much as
three times too cheap, and no price can become negative.
"""

import math
from collections.abc import Sequence

BOUND = 1000.0
"""Factors stay between 1 / BOUND and BOUND."""

_SPREAD = math.log(3.0) ** 2
"""Variance of a factor's logarithm at the start: a starting price may well be off by 3."""

_NOISE = 0.25**2
"""Variance of a sum's logarithm that no factor explains: a quarter of it."""

_DRIFT = _NOISE / 10**2
"""Variance that a factor gains with a sum that is all its own and as far off as noise: so it remembers some 10 of them
then, more while sums come true, and fewer while they do not.
"""

_OUTLIER = 2.0
"""Errors beyond so many standard deviations count as if they were no larger (Huber)."""


class Factors:
    """The factors of a sum's parts.

    Args:
        count: How many parts a sum has.
    """

    def __init__(self, count: int) -> None:
        self.logs = [0.0] * count
        self._spread = [[_SPREAD if row == column else 0.0 for column in range(count)] for row in range(count)]

    def unsure(self, index: int) -> float:
        """Return the standard deviation of a factor's logarithm."""
        return math.sqrt(self._spread[index][index])

    def learn(self, parts: Sequence[float], measured: float) -> None:
        """Take in a sum that was measured; takes about 10 us for five parts.

        Args:
            parts: What each part comes to at the starting prices; one that is 0 teaches nothing of its factor.
            measured: What all of them came to.
        """
        expected = [part * math.exp(log) for part, log in zip(parts, self.logs, strict=True)]
        total = sum(expected)
        if total <= 0.0 or measured <= 0.0:
            return
        shares, error = [part / total for part in expected], math.log(measured / total)
        # Where sums come true there is nothing to forget. And who has no share in a sum does not age by it: a burst of
        # sums without a part leaves its factor as sure as it was.
        drift = _DRIFT * min(_OUTLIER**2, error**2 / _NOISE)
        for index, share in enumerate(shares):
            self._spread[index][index] = min(_SPREAD, self._spread[index][index] + drift * share)
        self._correct(shares, error)

    def _correct(self, shares: Sequence[float], error: float) -> None:
        blame = [sum(map(float.__mul__, row, shares)) for row in self._spread]
        variance = sum(map(float.__mul__, blame, shares)) + _NOISE
        weight = min(1.0, _OUTLIER * math.sqrt(variance) / abs(error)) if error else 1.0
        most = math.log(BOUND)
        for index, (row, own) in enumerate(zip(self._spread, blame, strict=True)):
            gain = weight * own / variance
            self.logs[index] = max(-most, min(most, self.logs[index] + gain * error))
            for column, other in enumerate(blame):
                row[column] -= gain * other
