"""How far values are from those that were wanted, summed up chunk by chunk."""

import msgspec
from torch import Tensor


class Error(msgspec.Struct, frozen=True):
    """How far values are from the wanted ones.

    Attributes:
        relative: L2 norm of the difference over that of the wanted values.
        largest: The largest difference over the root mean square of the wanted values.
    """

    relative: float
    largest: float


class Sums(msgspec.Struct, frozen=True):
    """What an error is computed from; sums of parts add up to those of the whole.

    Attributes:
        missed: Sum of the squared differences.
        wanted: Sum of the squared wanted values.
        largest: The largest difference.
        values: How many there are.
    """

    missed: float = 0.0
    wanted: float = 0.0
    largest: float = 0.0
    values: int = 0

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.missed + other.missed,
            self.wanted + other.wanted,
            max(self.largest, other.largest),
            self.values + other.values,
        )

    @property
    def error(self) -> Error:
        """The error of all values; where none but zeros were wanted, that of one."""
        wanted = self.wanted or 1.0
        return Error((self.missed / wanted) ** 0.5, self.largest / (wanted / max(self.values, 1)) ** 0.5)


def compare(found: Tensor, wanted: Tensor) -> Sums:
    """Return the sums of two tensors of one shape."""
    difference = (found.float() - wanted.float()).abs()
    return Sums(
        difference.square().sum().item(),
        wanted.float().square().sum().item(),
        difference.max().item(),
        wanted.numel(),
    )
