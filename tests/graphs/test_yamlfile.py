from pathlib import Path
from typing import Any

import pytest

from graphs import yamlfile
from graphs.errors import Refusal


def read(folder: Path, text: str) -> yamlfile.Document:
    path = folder / "a.yaml"
    path.write_text(text)
    return yamlfile.read(path)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("010", 10),
        ("0o10", 8),
        ("0x10", 16),
        ("1e3", 1000.0),
        ("-5", -5),
        (".5", 0.5),
        ("1:30", "1:30"),
        ("2026-11-29", "2026-11-29"),
        ("~", None),
        ("", None),
        ("'5'", "5"),
        ("{a: [1]}", {"a": [1]}),
    ],
)
def test_scalars_are_read_as_yaml_1_2_reads_them(tmp_path: Path, written: str, value: Any) -> None:
    assert read(tmp_path, f"A:\n  b: {written}\n").data == {"A": {"b": value}}


def test_every_key_knows_its_line(tmp_path: Path) -> None:
    document = read(tmp_path, "# a comment\nA:\n  b: 1\n\n  c:\n    d: [x, {e: 2}]\n")
    assert document.lines == {
        ("A",): 2,
        ("A", "b"): 3,
        ("A", "c"): 5,
        ("A", "c", "d"): 6,
        ("A", "c", "d", "1", "e"): 6,
    }
    assert document.place("A", "b") == f"{tmp_path / 'a.yaml'}:3"
    assert document.place("nowhere") == str(tmp_path / "a.yaml")


def test_a_file_below_the_current_folder_is_named_as_a_person_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path, "A:\n").place("A") == "a.yaml:1"


def test_an_empty_file_has_no_settings(tmp_path: Path) -> None:
    assert read(tmp_path, "# nothing\n").data == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("A: 1\nB: 2\nA: 3\n", ":3: A is already set on line 1"),
        ("A:\n  b: 1\n  b: 2\n", ":3: A.b is already set on line 2"),
        ("A: [1\n", ":2: not YAML: "),
        ("- 1\n", ":1: the file must map service names to settings"),
        ("A:\n  8: 1\n", ":2: a key must be text; put it in quotes"),
        ("A:\n  [x]: 1\n", ":2: a key must be text; put it in quotes"),
        ("A: &a\n  b: *a\n", ":1: A.b contains itself"),
        ("A: !!python/object:os.system {}\n", ":1: not YAML: could not determine a constructor"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(Refusal) as refusal:
        read(tmp_path, text)
    assert str(refusal.value).startswith(f"{tmp_path / 'a.yaml'}{problem}")
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"none\.yaml: cannot be read: No such file or directory"):
        yamlfile.read(tmp_path / "none.yaml")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"A: \xff\n")
    with pytest.raises(Refusal, match="cannot be read: it is not UTF-8"):
        yamlfile.read(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9000", 9000),
        ("true", True),
        ("a: b: c", "a: b: c"),
        ('{"x": 1}', {"x": 1}),
        ("no", "no"),
        ("a,b", "a,b"),
        ("::", "::"),
        ("- a", "- a"),
        ("[a]", ["a"]),
    ],
)
def test_a_value_of_the_command_line_is_read_as_in_the_file(text: str, value: Any) -> None:
    assert yamlfile.value(text) == value
