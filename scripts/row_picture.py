"""Draws the KV rows to scale and the NVFP4 row at large: `python scripts/row_picture.py > docs/images/rows.svg`."""

# ruff: noqa: INP001 - A command, and no package.

import sys
from collections.abc import Iterator
from html import escape
from typing import Final

from components.kvcache.rows import BF16, FP8, FP8_DS_MLA, NVFP4_DS_MLA, Part, Row

ROWS: Final = (NVFP4_DS_MLA, FP8, FP8_DS_MLA, BF16)
SCALE: Final = 0.58
"""Pixels a byte."""
LEFT: Final = 124
WIDTH: Final = 874
HEIGHT: Final = 445
COLOURS: Final = {"latent": "#56B4E9", "RoPE": "#E69F00", "scales": "#009E73"}
CELL: Final = 64


def picture() -> Iterator[str]:
    """Yield the lines of the picture."""
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    for number, row in enumerate(ROWS):
        yield from _row(row, 14 + 40 * number)
    for number, name in enumerate(COLOURS):
        left = LEFT + 640
        yield _box(left, 14 + 24 * number, 14, 14, COLOURS[name])
        yield _text(left + 20, 26 + 24 * number, name)
    yield _text(LEFT, 202, f"{NVFP4_DS_MLA.cache_dtype}, not to scale", fill="#555")
    yield from _byte(216)
    yield from _scales(296)
    yield "</svg>"


def _row(row: Row, top: int) -> Iterator[str]:
    yield _text(LEFT - 8, top + 18, row.cache_dtype, anchor="end")
    parts = {"latent": row.latent, "RoPE": row.rope, "scales": row.scales}
    for name, part in parts.items():
        if part is not None:
            yield from _part(name, part, top)
    yield _text(LEFT + row.row_bytes * SCALE + 8, top + 18, f"{row.row_bytes:,} B")


def _part(name: str, part: Part, top: int) -> Iterator[str]:
    left, width = LEFT + part.offset_bytes * SCALE, part.size_bytes * SCALE
    yield _box(left, top, width, 28, COLOURS[name])
    words = f"{name}: {part.size_bytes} B {part.number_format}"
    # Narrow parts are named by their colour alone: the NVFP4 row is drawn at large below.
    if width > len(words) * 6.2:
        yield _text(left + width / 2, top + 18, words, anchor="middle")
    elif width > len(name) * 6.2:
        yield _text(left + width / 2, top + 18, name, anchor="middle")


def _byte(top: int) -> Iterator[str]:
    yield _text(LEFT - 8, top + 18, "bytes 0 to 255", anchor="end")
    for pair in range(3):
        left = LEFT + pair * 180
        for half, (bits, value) in enumerate((("bits 7-4", 2 * pair + 1), ("bits 3-0", 2 * pair))):
            yield _box(left + half * 84, top, 84, 28, COLOURS["latent"])
            yield _text(left + half * 84 + 42, top + 18, f"value {value}", anchor="middle")
            yield _text(left + half * 84 + 42, top + 42, bits, anchor="middle", fill="#555")
    words = ("… of 0, 0.5, 1, 1.5, 2, 3, 4, 6 by", "bits 2-0, the highest is the sign")
    yield from (_text(LEFT + 3 * 180, top + 10 + 18 * line, word) for line, word in enumerate(words))


def _scales(top: int) -> Iterator[str]:
    assert NVFP4_DS_MLA.scales is not None  # noqa: S101 - it has.
    first = NVFP4_DS_MLA.scales.offset_bytes
    groups = {offset: group for group, offset in enumerate(NVFP4_DS_MLA.scale_offsets_bytes)}
    yield _text(LEFT - 8, top + 18, "bytes 320 to 351", anchor="end")
    for line in range(4):
        for column in range(8):
            offset = first + 8 * line + column
            left, high = LEFT + column * CELL, top + line * 36
            yield _box(left, high, CELL, 28, COLOURS["scales"])
            yield _text(left + 4, high + 18, f"{offset}", fill="#ffffff", size=9)
            yield _text(left + CELL - 6, high + 19, f"{groups[offset]}", anchor="end", fill="#ffffff", size=14)
    left = LEFT + 8 * CELL + 10
    words = ("large: the group of 16 values", "that the e4m3 scale is of;", "small: the byte")
    yield from (_text(left, top + 18 + 18 * line, word) for line, word in enumerate(words))


def _box(left: float, top: float, width: float, height: float, colour: str) -> str:
    return (
        f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{height}" fill="{colour}" '
        'stroke="white" stroke-width="1"/>'
    )


def _text(left: float, top: float, words: str, *, anchor: str = "start", fill: str = "#222", size: int = 12) -> str:
    return (
        f'<text x="{left:.1f}" y="{top}" text-anchor="{anchor}" fill="{fill}" font-size="{size}">{escape(words)}</text>'
    )


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in picture())
