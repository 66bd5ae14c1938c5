from pathlib import Path

from graphs.commands.replay.ask import Ask, load_of, trace_of
from router.replay.baselines import POLICIES
from router.replay.cluster import Load
from router.replay.generator import generate

DOCS = Path(__file__).parents[4] / "docs" / "replay.md"


def asked(sessions: int | None = None, turns: int | None = None) -> Ask:
    return Ask(None, ("kv",), sessions, turns, (0,), (Load(),), None)


def test_sessions_are_made_up_for_each_seed_where_no_trace_is_named() -> None:
    ask = asked(sessions=5, turns=2)
    assert trace_of(ask, None, 1) == trace_of(ask, None, 1) != trace_of(ask, None, 2)
    assert max(len(session.turns) for session in trace_of(ask, None, 1).sessions) == 2


def test_a_trace_is_taken_whole_unless_a_number_is_asked() -> None:
    source = generate(5, 0)
    assert trace_of(asked(), source, 7) is source
    chosen = {
        tuple(each.session_id for each in trace_of(asked(sessions=2), source, seed).sessions) for seed in range(9)
    }
    assert len(chosen) > 3


def test_each_spacing_is_a_load_once() -> None:
    assert load_of("poisson", "10,2.5,10", 30.0) == (Load("poisson", 10.0, 30.0), Load("poisson", 2.5, 30.0))
    assert load_of("spaced", None, None) == (Load(),)


def test_every_policy_is_described() -> None:
    rows = DOCS.read_text().splitlines()
    assert [name for name in POLICIES if not any(row.startswith(f"| `{name}` |") for row in rows)] == []
