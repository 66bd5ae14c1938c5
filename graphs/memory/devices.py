"""GPUs by name, and how much memory each has."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from graphs.errors import Refusal
from graphs.nearest import did_you_mean

MIB: Final = 1 << 20
GIB: Final = 1 << 30


class Device(msgspec.Struct, frozen=True):
    """A GPU.

    Attributes:
        name: As it is asked for.
        hbm_bytes: Memory that the driver reports, which is less than the number on the data sheet.
        capability: Its compute capability; 0 of one that is known by its memory only.
        memory_tb_s: What it reads of its memory, TB/s by its data sheet; 0 as before.
        fp8_pflops: Its dense FP8 operations, 10^15 a second by its data sheet; 0 as before.
    """

    name: str
    hbm_bytes: int
    capability: float = 0
    memory_tb_s: float = 0
    fp8_pflops: float = 0


DEVICES: Final[Mapping[str, Device]] = MappingProxyType(
    {
        device.name: device
        for device in (
            Device("h100", 81_559 * MIB, 9.0, 3.35, 1.979),
            Device("h200", 143_771 * MIB, 9.0, 4.8, 1.979),
            Device("b200", 183_359 * MIB, 10.0, 8.0, 4.5),
            Device("gb200", 189_471 * MIB, 10.0, 8.0, 5.0),
        )
    }
)
"""As `nvidia-smi --query-gpu=memory.total` prints them. For another GPU give the figure itself (`--hbm-gib`)."""


def device(name: str) -> Device:
    """Return a GPU by its name.

    Raises:
        Refusal: It is not known.
    """
    try:
        return DEVICES[name.lower()]
    except KeyError:
        raise Refusal(f"--gpu {name}: {did_you_mean(name, list(DEVICES))} For another give --hbm-gib") from None
