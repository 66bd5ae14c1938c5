"""Files and folders of sessions. All samples are made up by hand."""

import gzip
import json
from pathlib import Path

import pytest

from graphs.commands.replay.sources import open_trace
from graphs.errors import Refusal

COMPACT = json.dumps(
    {"id": "a", "block_size": 64, "requests": [{"t": 0, "type": "s", "in": 130, "out": 5, "blocks": [[1, 2]]}]}
)
PLAIN = COMPACT.replace('"blocks": [[1, 2]]', '"hash_ids": [1, 2]')
ROW = json.dumps({"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [3, 4]})


def test_lines_of_sessions_are_read_plain_or_packed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "mine.jsonl", tmp_path / "mine.jsonl.gz"
    plain.write_text(f"\n{COMPACT}\n")
    packed.write_bytes(gzip.compress(f"{PLAIN}\n".encode()))

    trace = open_trace(plain)

    assert (trace.name, trace.block_size) == ("mine", 64)
    assert [turn.input_tokens for turn in trace.sessions[0].turns] == [130]
    assert open_trace(packed) == trace


def test_mooncake_rows_are_told_by_their_first_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{ROW}\n")

    trace = open_trace(path)

    assert (trace.name, trace.block_size, len(trace.sessions)) == ("rows", 512, 1)


def test_a_folder_of_sessions_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.json").write_text(PLAIN.replace('"a"', f'"{name}"'))
    (tmp_path / "notes.txt").write_text("not one of them")

    trace = open_trace(tmp_path)

    assert trace.name == tmp_path.name
    assert [session.session_id for session in trace.sessions] == ["a", "b"]
    assert [s.session_id for s in open_trace(tmp_path / "b.json").sessions] == ["b"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.jsonl", b"", "x.jsonl: empty: name a .jsonl"),
        ("x.jsonl", b"\n{oops\n", "x.jsonl: line 2: JSON is malformed"),
        ("x.jsonl", b"[1]\n", "x.jsonl: line 1: Expected `object`"),
        ("x.jsonl", b'{"prompt": "hi"}\n', "x.jsonl: line 1: neither requests"),
        ("x.jsonl", f"{COMPACT}\n{ROW}\n".encode(), "x.jsonl: line 2: Object missing required field"),
        ("x.jsonl", f"{ROW}\n{COMPACT}\n".encode(), "x.jsonl: line 2: Object missing required field"),
        ("x.json", b"", "x.json: the session: "),
        ("x.parquet", b"PAR1", "x.parquet: unknown form: name a .jsonl"),
        ("x.jsonl.gz", b"no gzip", "x.jsonl.gz: Not a gzipped file .*: it is cut or no gzip"),
        ("x.jsonl.gz", gzip.compress(COMPACT.encode() * 99)[:40], "x.jsonl.gz: .*: it is cut or no gzip"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line_with_its_place(
    tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(Refusal, match=says) as raised:
        open_trace(path)
    assert len(raised.value.problems) == 1
    assert "\n" not in raised.value.problems[0]


def test_a_bad_file_in_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(PLAIN)
    (tmp_path / "b.json").write_text("")

    with pytest.raises(Refusal, match=r"b\.json: .*a session is a JSON object"):
        open_trace(tmp_path)


def test_a_path_with_nothing_to_read_is_refused(tmp_path: Path) -> None:
    for path, says in (
        (tmp_path / "none.jsonl", "none.jsonl: No such file or directory"),
        (tmp_path / "none.txt", "none.txt: No such file or directory"),
        (tmp_path, r"no \.json file in it"),
    ):
        with pytest.raises(Refusal, match=says):
            open_trace(path)
