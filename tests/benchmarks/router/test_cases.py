"""What is replayed, on sessions made up."""

from benchmarks.router.cases import HOST_TOKENS, LARGE, SMALL, cases, named, replay
from router.replay.generator import generate
from router.replay.select import truncate

TRACE = truncate(generate(70, 4), 6)


def test_a_seed_chooses_sessions_or_shakes_their_arrivals() -> None:
    cut, whole, shared = cases(TRACE, LARGE)

    for case in (cut, whole, shared):
        assert case.sessions(1) == case.sessions(1) != case.sessions(2)
    assert sum(each.parent is None for each in whole.sessions(0).sessions) == 64
    assert max(len(each.turns) for each in cut.sessions(0).sessions) <= 30


def test_prompts_of_the_shared_prefix_fit_a_rank() -> None:
    *_, shared = cases(TRACE, 64_000)

    assert max(turn.input_tokens for each in shared.sessions(0).sessions for turn in each.turns) < 64_000


def test_every_router_meets_the_same_sessions() -> None:
    case = cases(TRACE, SMALL)[0]

    runs = replay(case, {"sticky": named("sticky"), "kv": named("kv")}, (0, 1))

    assert [(run.policy, run.seed) for run in runs] == [("sticky", 0), ("kv", 0), ("sticky", 1), ("kv", 1)]
    assert len({run.measures.requests for run in runs if run.seed == 0}) == 1


def test_the_policy_knows_of_the_host_tier() -> None:
    case = cases(TRACE, 64_000, HOST_TOKENS)[0]

    (run,) = replay(case, {"sticky": named("sticky")}, (0,))

    assert run.measures.reuse_ratio > run.measures.device_reuse_ratio
