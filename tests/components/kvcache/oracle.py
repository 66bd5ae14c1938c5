"""The writers' rules once more, in numpy and from tables of every code: nothing here is taken from the codec.

A rounding is a search among the middles of neighbouring values, made in float64, where they are exact.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]
Octets: TypeAlias = npt.NDArray[np.uint8]

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
# The codes 0 to 126, of which 0 to 7 are denormal.
E4M3 = np.array([m * 2.0**-9 for m in range(8)] + [(8 + c % 8) * 2.0 ** (c // 8 - 10) for c in range(8, 127)])


def nearest(sizes: Floats, table: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The code of the nearest entry, of two equally near ones the even; above the last one, the last."""
    middles = (table[1:] + table[:-1]) / 2
    code = np.searchsorted(middles, sizes.astype(np.float64))
    tie = middles[np.minimum(code, len(middles) - 1)] == sizes
    return np.where(tie & (code % 2 == 1) & (code < len(middles)), code + 1, code)


def e2m1(values: Floats) -> Octets:
    signs = np.where(np.signbit(values), 8, 0)
    return np.where(np.isnan(values), 7, nearest(np.nan_to_num(np.abs(values)), E2M1) + signs).astype(np.uint8)


def e4m3(values: Floats) -> Octets:
    signs = np.where(np.signbit(values), 128, 0)
    return np.where(np.isnan(values), 127, nearest(np.nan_to_num(np.abs(values)), E4M3) + signs).astype(np.uint8)


def bf16(values: Floats) -> npt.NDArray[np.uint16]:
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def nvfp4_rows(latent: Floats, rope: Floats) -> Octets:
    """`[tokens, 352]` from `[tokens, 512]` and `[tokens, 64]`."""
    groups = latent.reshape(-1, 32, 16)
    with np.errstate(invalid="ignore", over="ignore"):
        amax = np.fmax.reduce(np.abs(groups), axis=-1)
        sixth = np.float32(1) / np.float32(6)
        scales = e4m3(np.fmax(amax * sixth, np.float32(2.0**-9)))
        codes = e2m1(groups * (np.float32(1) / E4M3[scales].astype(np.float32))[..., None]).reshape(-1, 512)
    rows = np.zeros((len(latent), 352), np.uint8)
    rows[:, :256] = codes[:, ::2] + 16 * codes[:, 1::2]
    rows[:, 256:320] = e4m3(rope)
    # Eight rows of four scales, stored as four rows of eight.
    rows[:, 320:] = scales.reshape(-1, 8, 4).transpose(0, 2, 1).reshape(-1, 32)
    return rows


def fp8_ds_mla_rows(latent: Floats, rope: Floats) -> Octets:
    """`[tokens, 656]` from `[tokens, 512]` and `[tokens, 64]`."""
    groups = latent.reshape(-1, 4, 128)
    amax = np.fmax.reduce(np.abs(groups), axis=-1)
    wanted = np.fmax(amax * (np.float32(1) / np.float32(448)), np.float32(1e-4))
    powers = 2.0 ** np.arange(-14, 128)
    scales = powers[np.searchsorted(powers, wanted.astype(np.float64))].astype(np.float32)
    rows = np.zeros((len(latent), 656), np.uint8)
    rows[:, :512] = e4m3((groups / scales[..., None]).reshape(-1, 512))
    rows[:, 512:528] = scales.view(np.uint8)
    rows[:, 528:] = bf16(rope).view(np.uint8)
    return rows
