import pytest

from benchmarks.nixl.cases import comparisons
from benchmarks.nixl.peer import Times
from benchmarks.nixl.prices import Prices
from benchmarks.nixl.table import (
    Measured,
    Results,
    measured_prices,
    number,
    prices,
    published_prices,
    ratios,
    report,
    transfers,
)

HERE = Prices(2.0, 4.0, 5.0)


def results() -> Results:
    """Transfers that cost exactly `HERE`, the middle one of three."""
    return {
        name: [
            Measured(
                case,
                tuple(
                    Times(0.5, 1.0, HERE.ms(case.pieces, case.moved_bytes) * off, case.pieces) for off in (1, 2, 0.5)
                ),
            )
            for case in cases
        ]
        for name, cases in comparisons(32)
    }


def test_a_row_has_the_median_and_the_spread() -> None:
    row = next(line for line in transfers(results()).splitlines() if "352 B: block-major, 64 tokens |" in line)
    total = HERE.ms(1_940, 1_940 * 2 * 30_712)
    assert f"{number(total)} ({number(total / 2)}-{number(total * 2)})" in row
    assert "| 1,940 | 1,940 | 61,424 | 119 |" in row


def test_the_ratio_is_of_the_layer_major_cut_to_the_row() -> None:
    lines = transfers(results()).splitlines()[2:]
    assert lines[0].endswith("| 1.00 |")
    many, few = HERE.ms(12_322, 122 * 32 * 30_712), HERE.ms(1_940, 1_940 * 2 * 30_712)
    assert lines[1].endswith(f"| {many / few:.2f} |")


def test_a_ratio_is_of_transfers_of_one_round() -> None:
    one, other = (case for case in dict(comparisons(32))["124,160 tokens, rows of 352 B"])
    many = Measured(one, (Times(0, 0, 30.0, 1), Times(0, 0, 8.0, 1), Times(0, 0, 90.0, 1)))
    few = Measured(other, (Times(0, 0, 10.0, 1), Times(0, 0, 4.0, 1), Times(0, 0, 30.0, 1)))
    assert few.times_faster(many) == 3


def test_the_published_pair_stands_beside_ours() -> None:
    lines = ratios(results()).splitlines()
    assert lines[2] == "| the write-up | 19,559 → 1,940 | 10.08 | 146 → 78 | 1.87 |"
    assert lines[3].startswith("| 124,160 tokens, rows of 352 B | 12,322 → 1,940 | 6.35 | ")


def test_the_fit_finds_what_the_transfers_cost() -> None:
    found = measured_prices(results())
    assert (found.transfer_ms, found.piece_us, found.transfer_gb_s) == pytest.approx((2.0, 4.0, 5.0))


def test_the_published_pair_implies_four_microseconds_a_piece() -> None:
    assert round(published_prices().piece_us, 2) == 3.86
    assert round(published_prices().ms(1_940, 0) + published_prices().ms(0, 6_090_000_000)) == 78


def test_the_prices_stand_beside_the_routers() -> None:
    lines = prices(results()).splitlines()
    assert lines[2].endswith("| 2.00 | 4.00 | 5.00 |")
    assert lines[4] == "| `router/costs.py` | 5.00 | 2.00 | 40.0 |"


def test_transfers_that_tell_no_prices_are_said_to() -> None:
    flat = {name: [Measured(one.case, (Times(0, 0, 1.0, 1),)) for one in some] for name, some in results().items()}
    assert "do not tell" in prices(flat)


def test_the_report_has_all_three_tables() -> None:
    assert report(results()).count("| --- |") == 3


@pytest.mark.parametrize(("value", "text"), [(0.04, "0.04"), (9.876, "9.88"), (98.76, "98.8"), (9876.5, "9,876")])
def test_numbers_keep_three_digits(value: float, text: str) -> None:
    assert number(value) == text
