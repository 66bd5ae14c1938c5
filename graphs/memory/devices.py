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
    """

    name: str
    hbm_bytes: int
    capability: float = 0


DEVICES: Final[Mapping[str, Device]] = MappingProxyType(
    {
        device.name: device
        for device in (
            Device("h100", 81_559 * MIB, 9.0),
            Device("h200", 143_771 * MIB, 9.0),
            Device("b200", 183_359 * MIB, 10.0),
            Device("gb200", 189_471 * MIB, 10.0),
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
