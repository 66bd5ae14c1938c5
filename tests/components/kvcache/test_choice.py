import json
from pathlib import Path
from typing import Any

import pytest

from components.kvcache.choice import TABLE, Choice, Kernel, choose, read

ROW = {"capability": "10.x", "heads": [16, 16], "query_tokens": [10, 25], "kernel": "flashinfer", "source": "measured"}


def row(**changes: Any) -> Choice:
    fields = {"capability": "10.x", "heads": (1, 128), "query_tokens": (1, None), "source": "measured"} | changes
    return Choice(**fields)


@pytest.fixture(scope="module")
def shipped() -> tuple[Choice, ...]:
    return read()


@pytest.mark.parametrize(
    ("capability", "heads", "tokens", "kernel"),
    [
        ((9, 0), 64, 1, "triton"),
        ((9, 0), 64, 256, "triton"),
        ((9, 0), 16, 15, "triton"),
        ((10, 0), 16, 9, "flashmla"),
        ((10, 0), 16, 10, "flashinfer"),
        ((10, 3), 16, 25, "flashinfer"),
        ((10, 3), 16, 26, "flashmla"),
        ((10, 0), 64, 15, "flashmla"),
        ((12, 0), 16, 15, "triton"),
    ],
)
def test_the_shipped_table_takes_each_kernel_where_it_is_known_to_be_good(
    shipped: tuple[Choice, ...], capability: tuple[int, int], heads: int, tokens: int, kernel: str
) -> None:
    assert choose(shipped, capability, heads, tokens) == kernel


def test_a_kernel_that_is_not_installed_is_passed_over(shipped: tuple[Choice, ...]) -> None:
    assert choose(shipped, (10, 0), 16, 15, {Kernel.TRITON, Kernel.FLASHMLA}) == "flashmla"
    assert choose(shipped, (10, 0), 16, 15, {Kernel.TRITON}) == "triton"


def test_ours_is_taken_where_no_row_says_another() -> None:
    assert choose([row(capability="10.0", kernel=Kernel.FLASHMLA)], (10, 3), 16, 15) == "triton"
    assert choose([], (10, 0), 16, 15) == "triton"


def test_the_first_row_wins() -> None:
    rows = [row(query_tokens=(1, 8), kernel=Kernel.TRITON), row(kernel=Kernel.FLASHMLA)]
    assert [choose(rows, (10, 0), 64, tokens) for tokens in (8, 9)] == ["triton", "flashmla"]


def test_every_shipped_row_says_where_it_is_from() -> None:
    assert all(len(each["source"]) > 40 for each in json.loads(TABLE.read_text()))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"capability": "sm_90"}, "capability 'sm_90' is neither like 9.0 nor like 10.x - at `$[0]`"),
        ({"heads": [64, 16]}, "heads 64 to 16 is no range of numbers above zero - at `$[0]`"),
        ({"query_tokens": [0, None]}, "query_tokens 0 to None is no range"),
        ({"kernel": "cutlass"}, "Invalid enum value 'cutlass' - at `$[0].kernel`"),
        ({"source": " "}, "source is empty: say where the row is from - at `$[0]`"),
        ({"tokens": 3}, "unknown field `tokens`"),
    ],
)
def test_a_bad_row_is_named_in_one_line(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = tmp_path / "choice.json"
    path.write_text(json.dumps([ROW | change]))
    with pytest.raises(ValueError, match=r"choice\.json: ") as refusal:
        read(path)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("content", "says"), [("[", "Input data was truncated"), (None, "No such file or directory")])
def test_a_file_that_is_no_table_is_named_in_one_line(tmp_path: Path, content: str | None, says: str) -> None:
    path = tmp_path / "choice.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ValueError, match=f"choice.json: {says}"):
        read(path)
