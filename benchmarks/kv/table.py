"""The figures as Markdown, and as rows of the table by which the backend chooses a kernel."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

import msgspec

from benchmarks.kv.cases import PROMISED_SHARE, PROMISED_TOKENS, Case
from components.kvcache.choice import Choice, Kernel

_MOST_HEADS: Final = 128


class Measured(msgspec.Struct, frozen=True):
    """One case's times.

    Attributes:
        case: What was launched.
        splits: Into how many our kernel divided a selection.
        kernels_us: Microseconds of a launch, by kernel; ours is always among them.
        gathers_us: Microseconds in which the same selection is merely read, by the row's cache dtype.
    """

    case: Case
    splits: int
    kernels_us: dict[Kernel, float]
    gathers_us: dict[str, float]

    @property
    def gigabytes_per_second(self) -> float:
        """Bytes of the selected rows over our kernel's time, in units of 10^9."""
        return self.case.row_bytes() / self.kernels_us[Kernel.TRITON] / 1e3


class Device(msgspec.Struct, frozen=True):
    """The GPU that was measured.

    Attributes:
        name: As the driver has it.
        capability: Compute capability.
        copy_gigabytes_per_second: Bytes read and written over time, when one large buffer is copied to another.
    """

    name: str
    capability: tuple[int, int]
    copy_gigabytes_per_second: float


def kept(device: Device, measured: Sequence[Measured]) -> bool:
    """Return whether our kernel reads rows as fast as it is meant to, wherever enough tokens are there."""
    least = PROMISED_SHARE * device.copy_gigabytes_per_second
    return all(one.gigabytes_per_second >= least for one in measured if one.case.tokens >= PROMISED_TOKENS)


def report(device: Device, measured: Sequence[Measured]) -> str:
    """Return the table: a line a case."""
    gathers = list(measured[0].gathers_us)
    others = sorted({kernel for one in measured for kernel in one.kernels_us} - {Kernel.TRITON})
    head = ["heads", "tokens", "context", "splits", "us", "rows, GB/s", "of copy", "all, MB"]
    head += [f"{kernel}, us" for kernel in others] + [f"reading {name}, us" for name in gathers]
    lines = [head, ["---:"] * len(head)]
    for one in measured:
        case, speed = one.case, one.gigabytes_per_second
        moved = (case.row_bytes() + case.other_bytes(one.splits)) / 1e6
        lines.append(
            [
                f"{case.heads}",
                f"{case.tokens}",
                f"{case.context:,}",
                f"{one.splits}",
                f"{one.kernels_us[Kernel.TRITON]:.1f}",
                f"{speed:,.0f}",
                f"{speed / device.copy_gigabytes_per_second:.0%}",
                f"{moved:.1f}",
                *(f"{one.kernels_us[kernel]:.1f}" if kernel in one.kernels_us else "-" for kernel in others),
                *(f"{one.gathers_us[name]:.1f}" for name in gathers),
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def choices(device: Device, measured: Sequence[Measured], date: str) -> list[Choice]:
    """Return the fastest kernel of each range of heads and query tokens, by its times over all contexts.

    A measured number stands for those between the one below it and itself, the largest for all above as well.

    Args:
        device: The GPU; the rows are about its compute capability alone.
        measured: All cases.
        date: When.
    """
    heads = sorted({one.case.heads for one in measured})
    found: list[Choice] = []
    for index, width in enumerate(heads):
        own = [one for one in measured if one.case.heads == width]
        wide = max(_MOST_HEADS, width) if index == len(heads) - 1 else width
        narrow = heads[index - 1] + 1 if index else 1
        found += _choices_of(device, own, (narrow, wide), date)
    return found


def _choices_of(device: Device, measured: Sequence[Measured], heads: tuple[int, int], date: str) -> list[Choice]:
    tokens = sorted({one.case.tokens for one in measured})
    times = {count: _times([one for one in measured if one.case.tokens == count]) for count in tokens}
    fastest = [(count, min(times[count], key=times[count].__getitem__)) for count in tokens]
    found: list[Choice] = []
    low = 1
    for kernel, group in groupby(fastest, key=lambda pair: pair[1]):
        counts = [count for count, _ in group]
        high = None if counts[-1] == tokens[-1] else counts[-1]
        figures = "; ".join(f"{count}: {_figures(times[count])}" for count in counts)
        source = f"benchmarks/kv/gpu.py on {device.name}, {date}, mean us over contexts by query tokens: {figures}"
        capability = f"{device.capability[0]}.{device.capability[1]}"
        found.append(Choice(capability, heads, (low, high), kernel, source))
        low = counts[-1] + 1
    return found


def _times(measured: Sequence[Measured]) -> dict[Kernel, float]:
    """Return the mean time over contexts of each kernel that ran in all of them."""
    common = set.intersection(*(set(one.kernels_us) for one in measured))
    return {kernel: sum(one.kernels_us[kernel] for one in measured) / len(measured) for kernel in sorted(common)}


def _figures(times: dict[Kernel, float]) -> str:
    return ", ".join(f"{kernel} {time:.1f}" for kernel, time in times.items())


def merged(rows: Sequence[Choice], measured: Sequence[Choice]) -> list[Choice]:
    """Return a table with new rows for a capability in place of the old ones for the same, ahead of the rest."""
    capabilities = {row.capability for row in measured}
    return [*measured, *(row for row in rows if row.capability not in capabilities)]
