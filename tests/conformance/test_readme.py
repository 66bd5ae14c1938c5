import re
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.conformance.cases import DATA, OUTPUTS, load

FILES = (*OUTPUTS, "tags.jsonl", "schemas.jsonl")
ROOT = Path(__file__).parents[2]
README = (DATA / "README.md").read_text("utf-8")
CASES = [case for name in (*OUTPUTS, "tags.jsonl") for case in load(name)]

Row = tuple[int, list[str], list[str]]


def table(heading: str) -> list[list[str]]:
    """The cells of the rows of the table under a heading, or of the one that begins with a row."""
    body = README[README.index(heading) :]
    rows = re.search(r"(?:^\|.*\n)+", body, re.MULTILINE)
    assert rows is not None
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in rows[0].splitlines()[2:]]


def reports() -> list[Row]:
    """Number, references, and the names in backticks of every report."""
    return [
        (int(number), references.split(", "), re.findall(r"`([^`]+)`", cases))
        for number, references, _, cases in table("| no. | report |")
    ]


def named(heading: str) -> dict[str, list[str]]:
    return {row[0].strip("`"): row[1:] for row in table(heading)}


def test_every_report_is_accounted_for() -> None:
    assert [number for number, _, _ in reports()] == list(range(1, 83))
    assert all(names for _, _, names in reports())


@pytest.mark.parametrize("row", reports(), ids=lambda row: str(row[0]))
def test_what_is_named_for_a_report_is_there_and_shows_it(row: Row) -> None:
    _, references, names = row
    for name in names:
        if name.endswith((".py", ".md")):
            assert (ROOT / name).is_file(), name
        else:
            found = [case for case in CASES if fnmatchcase(case["id"], name)]
            assert found, name
            assert {case["source"] for case in found} <= set(references), name


def test_a_report_names_every_case_that_names_it() -> None:
    known = {reference: names for _, references, names in reports() for reference in references}
    for case in CASES:
        names = known.get(case["source"], [case["id"]])
        assert any(fnmatchcase(case["id"], name) for name in names), case["id"]


def test_cases_for_a_report_carry_its_number() -> None:
    numbers = {reference: number for number, references, _ in reports() for reference in references}
    for case in load("reports.jsonl"):
        number = re.fullmatch(r"(?:report-(\d\d)|own)-[a-z0-9-]+", case["id"])
        assert number is not None, case["id"]
        assert numbers.get(case["source"]) == (number[1] and int(number[1])), case["id"]


def test_no_two_cases_share_a_name() -> None:
    assert not [
        name for name, times in Counter(case["id"] for file in FILES for case in load(file)).items() if times > 1
    ]


def test_a_case_says_why_and_where_from() -> None:
    for case in CASES:
        assert case["kind"], case["id"]
        assert case["why"].endswith("."), case["id"]
        assert re.fullmatch(r"format rule|own measurement|[\w.-]+/[\w.-]+#\d+", case["source"]), case["id"]


def test_the_files_are_as_long_as_said() -> None:
    assert {name: [str(len(load(name)))] for name in FILES} == {
        name: row[:1] for name, row in named("| file | lines |").items()
    }


def test_the_classes_are_those_described_with_their_counts() -> None:
    kinds = [Counter(case["kind"] for case in load(name)) for name in OUTPUTS]
    said = named("| class | what it holds | `dev` |")
    assert said.keys() == kinds[0].keys() | kinds[1].keys()
    assert all(row[1:] == [str(each[kind]) for each in kinds] for kind, row in said.items())


def test_the_classes_of_tags_are_those_described_with_their_counts() -> None:
    counts = Counter(case["kind"] for case in load("tags.jsonl"))
    assert {kind: row[-1] for kind, row in named("| class | what it holds | cases |").items()} == {
        kind: str(count) for kind, count in counts.items()
    }
