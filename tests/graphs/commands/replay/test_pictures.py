"""Pictures of real replays, as the command draws them."""

import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from graphs import cli

RUN = ["replay", "--sessions", "6", "--turns", "4", "--policy", "sticky", "--policy", "kv"]
SWEEP = [*RUN, "--spacing-s", "5,1", "--think-cap-s", "2", "--seeds", "2"]
SVG = "{http://www.w3.org/2000/svg}"


def words_of(path: Path) -> str:
    return " ".join(text.text or "" for text in ET.parse(path).iter(f"{SVG}text"))  # noqa: S314 - we wrote it.


@pytest.mark.parametrize("words", [RUN, SWEEP])
def test_a_png_can_be_decoded_and_is_not_blank(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "a.png"
    assert cli.run([*words, "--plot", str(path)]) == 0
    data, pixels = path.read_bytes(), b""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at = 8
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        chunk = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + chunk),)
        pixels += chunk if kind == b"IDAT" else b""
        at += 12 + length
    assert kind == b"IEND"
    assert len(set(zlib.decompress(pixels))) > 20


def test_a_run_shows_load_balance_reuse_and_first_tokens_of_each_policy(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    assert cli.run([*RUN, "--plot", str(path)]) == 0
    words = words_of(path)
    for title in ("by prefill rank", "Busiest rank", "found cached", "Time to first token", "ideal", "pooled"):
        assert title in words
    assert "sticky" in words
    assert "kv" in words


def test_a_sweep_shows_user_speed_against_gpu_output_with_its_loads(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    assert cli.run([*SWEEP, "--plot", str(path)]) == 0
    words = words_of(path)
    for text in ("E2E tok/s per user", "output tok/s per GPU", "medians of 2 seeds", "5 s", "1 s", "sticky", "kv"):
        assert text in words


def test_equal_replays_are_drawn_equal(tmp_path: Path) -> None:
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    for path in (first, second):
        assert cli.run([*RUN, "--plot", str(path)]) == 0
    assert first.read_bytes() == second.read_bytes()


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.png"
    path.mkdir()
    assert cli.run([*RUN, "--plot", str(path)]) == 2
    assert capfd.readouterr().err == f"dynamo: --plot {path}: Is a directory: name a file that can be written\n"
