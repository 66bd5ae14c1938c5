import pytest

from benchmarks.nixl.prices import Point, Prices, fit, from_pair


def points(prices: Prices) -> list[Point]:
    return [
        Point(pieces, moved, prices.ms(pieces, moved))
        for pieces, moved in ((20_000, 190_000_000), (3_000, 190_000_000), (12_000, 120_000_000), (2_000, 300_000_000))
    ]


def test_prices_that_made_the_points_are_found_again() -> None:
    found = fit(points(Prices(5.0, 3.0, 4.0)))
    assert (found.transfer_ms, found.piece_us, found.transfer_gb_s) == pytest.approx((5.0, 3.0, 4.0))


def test_a_transfer_of_nothing_never_costs_less_than_nothing() -> None:
    cheap = [Point(point.pieces, point.moved_bytes, point.total_ms - 4) for point in points(Prices(0.0, 3.0, 4.0))]
    found = fit(cheap)
    assert found.transfer_ms == 0
    assert found.piece_us > 0


def test_points_that_do_not_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="do not tell"):
        fit([Point(1000, 1_000_000, 5.0)] * 4)


def test_pieces_that_make_it_faster_are_refused() -> None:
    with pytest.raises(ValueError, match="do not tell"):
        fit([Point(1, 10**8, 50.0), Point(10_000, 10**8, 10.0), Point(1, 2 * 10**8, 100.0), Point(9_000, 10**8, 12.0)])


def test_a_pair_of_transfers_gives_a_piece_and_a_byte() -> None:
    many, few = Point(20_000, 10**9, 110.0), Point(10_000, 10**9, 60.0)
    assert from_pair(many, few) == Prices(0.0, 5.0, 100.0)
