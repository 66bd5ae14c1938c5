from router import Fleet, Overlap, Rank, Router, RouteRequest, Sticky, Worker
from router.costs import Costs

TWO_NODES = (Worker(1, 4, 500_000), Worker(2, 4, 500_000, start_rank=4))
"""One engine of eight ranks over two nodes, each of which registers a worker."""


def test_ranks_are_counted_on_from_a_workers_first() -> None:
    assert TWO_NODES[0].ranks() == tuple(Rank(1, rank) for rank in range(4))
    assert TWO_NODES[1].ranks() == tuple(Rank(2, rank) for rank in range(4, 8))


def test_a_prompt_goes_to_the_rank_of_the_second_node_that_has_it() -> None:
    router = Router(Sticky(Costs()))
    request = RouteRequest("1", session="s", prompt_tokens=50_000, overlaps={Rank(2, 5): Overlap(49_984)})

    decision = router.place(request, Fleet(TWO_NODES), 0.0)

    assert decision.placement.routing() == {"prefill_worker_id": 2, "prefill_dp_rank": 5}


def test_ranks_of_both_nodes_march_together() -> None:
    router = Router(Sticky(Costs()))
    for number in range(32):
        router.place(RouteRequest(str(number), session=str(number), prompt_tokens=20_000), Fleet(TWO_NODES), 0.0)

    assert {book.requests for book in router.prefill.values()} == {4}
