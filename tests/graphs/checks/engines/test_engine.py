import pytest

from graphs.checks.engines.engine import Engine, engines, pair, summary
from tests.graphs.checks.engines.conftest import PAIR
from tests.graphs.conftest import Resolve


def prefill(configure: Resolve, *words: str) -> Engine:
    return engines(configure(*words, text=PAIR))[0]


def test_only_services_that_vllm_runs_are_engines(configure: Resolve) -> None:
    assert engines(configure()) == []
    found = engines(configure(text=PAIR))
    assert [(each.name, each.stage) for each in found] == [("Prefill", "prefill"), ("Decode", "decode")]
    assert pair(found) == tuple(found)
    assert pair(found[:1]) is None


def test_a_place_is_the_line_or_the_words_where_it_was_written(configure: Resolve) -> None:
    engine = prefill(configure, "--Prefill.max-num-seqs=3")
    assert engine.place("max-num-seqs") == "--Prefill.max-num-seqs=3: Prefill.max-num-seqs"
    assert engine.place("connectors").endswith("graph.yaml:5: Prefill.connectors")
    assert engine.place("model").endswith("graph.yaml:2 (Common): Prefill.model")
    assert engine.place("tensor-parallel-size") == "Prefill.tensor-parallel-size"


@pytest.mark.parametrize(
    ("word", "mode"),
    [
        ("--Prefill.enforce-eager", "NONE"),
        ("--Prefill.compilation-config={cudagraph_mode: full}", "FULL"),
        ("--Prefill.max-num-seqs=3", None),
    ],
)
def test_the_graph_mode_is_read_however_it_was_said(configure: Resolve, word: str, mode: str | None) -> None:
    assert prefill(configure, word).graphs == mode


def test_backend_and_draft_are_read_however_they_were_said(configure: Resolve) -> None:
    engine = prefill(configure, "--Prefill.attention-backend=", "--Prefill.attention-config={backend: cpu_mla}")
    assert engine.backend == "CPU_MLA"
    assert prefill(configure, "--Prefill.spec-method=mtp").drafts == "mtp"


def test_an_engine_is_summed_up_in_a_line(configure: Resolve) -> None:
    assert str(summary(prefill(configure, "--Prefill.connectors=[nixl, mooncake]"))) == (
        "Prefill engine: DEP8, fp8_ds_mla rows in BLHNC layout, blocks of 64 tokens, "
        "NixlConnector + MooncakeStoreConnector"
    )
