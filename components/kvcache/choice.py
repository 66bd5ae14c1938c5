"""Which kernel reads NVFP4 rows in a launch, by the GPU, the heads of a rank and the query tokens of the launch.

It is a table, `choice.json` beside this file, because it is what was measured and no rule explains it: FlashInfer's
kernel is ahead in a band of batch sizes, FlashMLA's pads heads to 64, ours is the one that there is on Hopper.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

TABLE: Final = Path(__file__).with_suffix(".json")
"""The table that the engines use. Each row says where it is from."""


class Kernel(StrEnum):
    """A sparse-MLA decode kernel that reads rows of `nvfp4_ds_mla`.

    `TRITON` is ours (`components.kvcache.attention`), and runs wherever vLLM's indexer does. `FLASHMLA` and
    `FLASHINFER` (`flashinfer.mla.nvfp4_sparse_mla_decode`) are for compute capability 10.x.
    """

    TRITON = "triton"
    FLASHMLA = "flashmla"
    FLASHINFER = "flashinfer"


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the table.

    Attributes:
        capability: Compute capability, such as `9.0`, or `10.x` for all of a family.
        heads: Query heads of a rank, the fewest and the most.
        query_tokens: Query tokens of a launch, the fewest and the most; no most is any number.
        kernel: What reads the rows.
        source: Where the row is from: the measurement, with device, date and figures, or why there is none.
    """

    capability: str
    heads: tuple[int, int]
    query_tokens: tuple[int, int | None]
    kernel: Kernel
    source: str

    def __post_init__(self) -> None:
        """Check what the types do not.

        Raises:
            ValueError: A range is empty, the capability is none, or nobody says where the row is from.
        """
        major, _, minor = self.capability.partition(".")
        if not (major.isdecimal() and (minor == "x" or minor.isdecimal())):
            raise ValueError(f"capability {self.capability!r} is neither like 9.0 nor like 10.x")
        for name, (low, high) in (("heads", self.heads), ("query_tokens", self.query_tokens)):
            if low < 1 or (high is not None and high < low):
                raise ValueError(f"{name} {low} to {high} is no range of numbers above zero")
        if not self.source.strip():
            raise ValueError("source is empty: say where the row is from")

    def holds(self, capability: tuple[int, int], heads: int, query_tokens: int) -> bool:
        """Return whether the row is about such a launch."""
        major, minor = capability
        low, high = self.query_tokens
        return (
            self.capability in {f"{major}.{minor}", f"{major}.x"}
            and self.heads[0] <= heads <= self.heads[1]
            and low <= query_tokens
            and (high is None or query_tokens <= high)
        )


def read(path: Path = TABLE) -> tuple[Choice, ...]:
    """Return a table's rows, in order.

    Raises:
        ValueError: The file is not there or is no such table; the message is one line that names file and row.
    """
    try:
        rows = msgspec.json.decode(path.read_bytes(), type=tuple[Choice, ...])
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    return rows


def choose(
    table: Sequence[Choice],
    capability: tuple[int, int],
    heads: int,
    query_tokens: int,
    available: AbstractSet[Kernel] = frozenset(Kernel),
) -> Kernel:
    """Return the kernel for a launch: that of the first row about it whose kernel is there, else ours.

    Args:
        table: Rows in order of precedence.
        capability: Compute capability of the GPU.
        heads: Query heads of this rank.
        query_tokens: Query tokens of the launch: requests times one more than drafted tokens, in a decode step.
        available: Kernels that are installed.
    """
    found = (row.kernel for row in table if row.kernel in available and row.holds(capability, heads, query_tokens))
    return next(found, Kernel.TRITON)
