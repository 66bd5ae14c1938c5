from pathlib import Path

import msgspec
import pytest

from benchmarks.kv.cases import Case
from benchmarks.kv.gpu import write_choice
from benchmarks.kv.table import Device, Measured, choices, kept, merged, report
from components.kvcache.choice import Choice, Kernel, choose, read

HOPPER = Device("NVIDIA H200", (9, 0), 4000.0)
BLACKWELL = Device("NVIDIA B200", (10, 0), 6000.0)
TRITON, FLASHMLA, FLASHINFER = Kernel.TRITON, Kernel.FLASHMLA, Kernel.FLASHINFER


def measured(heads: int, tokens: int, times: dict[Kernel, float], context: int = 204_800) -> Measured:
    return Measured(Case(heads, tokens, context), 1, times, {"fp8_e4m3": 10.0, "bfloat16": 20.0})


def test_a_line_has_the_rows_speed_beside_what_copying_reaches() -> None:
    text = report(HOPPER, [measured(16, 64, {TRITON: 20.0})])
    head, _, line = (tuple(cell.strip() for cell in row.strip("|").split("|")) for row in text.splitlines())
    cells = dict(zip(head, line, strict=True))
    # 46.137344 MB in 20 us; 0.5 MB of indices, 1.2 of queries and 1.0 of outputs beside them.
    assert cells["rows, GB/s"] == "2,307"
    assert cells["of copy"] == "58%"
    assert cells["all, MB"] == "48.9"
    assert (cells["reading fp8_e4m3, us"], cells["reading bfloat16, us"]) == ("10.0", "20.0")


def test_a_kernel_that_did_not_run_everywhere_has_a_dash() -> None:
    text = report(BLACKWELL, [measured(16, 4, {TRITON: 5.0, FLASHINFER: 4.0}), measured(64, 4, {TRITON: 9.0})])
    assert "flashinfer, us" in text
    assert "| 4.0 |" in text.splitlines()[2]
    assert "| - |" in text.splitlines()[3]


@pytest.mark.parametrize(("tokens", "time", "promise"), [(64, 19.0, True), (64, 20.0, False), (16, 90.0, True)])
def test_the_promise_is_about_64_tokens_and_more(tokens: int, time: float, *, promise: bool) -> None:
    # 60 % of 4,000 GB/s are 19.2 us for 46.1 MB.
    assert kept(HOPPER, [measured(16, tokens, {TRITON: time})]) is promise


def test_each_range_of_tokens_has_the_kernel_that_was_fastest() -> None:
    rows = choices(
        BLACKWELL,
        [
            measured(16, 4, {TRITON: 9.0, FLASHMLA: 11.0, FLASHINFER: 10.0}),
            measured(16, 16, {TRITON: 14.0, FLASHMLA: 16.0, FLASHINFER: 12.0}),
            measured(16, 64, {TRITON: 30.0, FLASHMLA: 28.0, FLASHINFER: 33.0}),
            measured(16, 128, {TRITON: 60.0, FLASHMLA: 50.0, FLASHINFER: 70.0}),
            measured(64, 4, {TRITON: 9.0, FLASHMLA: 11.0}),
        ],
        "2026-12-01",
    )
    assert [(row.heads, row.query_tokens, row.kernel) for row in rows] == [
        ((1, 16), (1, 4), TRITON),
        ((1, 16), (5, 16), FLASHINFER),
        ((1, 16), (17, None), FLASHMLA),
        ((17, 128), (1, None), TRITON),
    ]
    assert {row.capability for row in rows} == {"10.0"}
    assert "NVIDIA B200, 2026-12-01" in rows[0].source
    assert "4: flashinfer 10.0, flashmla 11.0, triton 9.0" in rows[0].source
    assert choose(rows, (10, 0), 16, 12) == FLASHINFER


def test_more_heads_than_usual_are_a_range_of_their_own() -> None:
    rows = choices(BLACKWELL, [measured(heads, 4, {TRITON: 9.0}) for heads in (160, 192)], "2026-12-01")
    assert [row.heads for row in rows] == [(1, 160), (161, 192)]


def test_contexts_are_weighed_together() -> None:
    rows = choices(
        BLACKWELL,
        [
            measured(16, 4, {TRITON: 9.0, FLASHMLA: 10.0}, 2048),
            measured(16, 4, {TRITON: 20.0, FLASHMLA: 12.0}, 204_800),
        ],
        "2026-12-01",
    )
    assert [row.kernel for row in rows] == [FLASHMLA]


def test_new_rows_replace_those_of_the_same_capability_alone() -> None:
    old = [
        Choice("9.0", (1, 128), (1, None), TRITON, "old"),
        Choice("10.x", (1, 128), (1, None), FLASHMLA, "kept"),
    ]
    new = [Choice("9.0", (1, 128), (1, None), TRITON, "new")]
    assert merged(old, new) == [new[0], old[1]]


def test_the_table_is_one_that_the_backend_reads(tmp_path: Path) -> None:
    path = tmp_path / "choice.json"
    rows = choices(HOPPER, [measured(64, 4, {TRITON: 9.0})], "2026-12-01")
    write_choice(path, rows)
    assert read(path) == tuple(rows)
    write_choice(path, [msgspec.structs.replace(rows[0], capability="12.0")])
    assert [row.capability for row in read(path)] == ["12.0", "9.0"]
    assert list(tmp_path.iterdir()) == [path]
