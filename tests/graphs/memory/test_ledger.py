from collections import Counter

import pytest

from graphs.memory.ledger import Verdict, ledger

CLAIMS = {(claim.source, claim.what): claim for claim in ledger()}


def test_no_claim_is_made_twice() -> None:
    assert len(CLAIMS) == len(ledger())


def test_a_claim_is_reproduced_when_it_is_printed_alike_and_only_then() -> None:
    for claim in CLAIMS.values():
        assert (claim.verdict is Verdict.REPRODUCED) == (claim.ours == claim.published), claim.what
        assert (claim.verdict is Verdict.NOT_COMPUTABLE) == (not claim.ours), claim.what


def test_most_are_reproduced_and_one_cannot_be() -> None:
    counted = Counter(claim.verdict for claim in CLAIMS.values())
    assert counted[Verdict.REPRODUCED] >= 24
    assert [claim.published for claim in CLAIMS.values() if claim.verdict is Verdict.CONTRADICTED] == ["19,559"]


def test_whatever_is_not_reproduced_says_why() -> None:
    for claim in CLAIMS.values():
        assert len(claim.formula) > (0 if claim.verdict is Verdict.REPRODUCED else 25), claim.what


@pytest.mark.parametrize(
    ("source", "what", "ours"),
    [
        ("vLLM", "a token, fp8_ds_mla", "54,728 B"),
        ("vLLM", "sparse attention, 64 heads", "191 FLOP/B"),
        ("PI", "copies, a layer at a time", "15,288"),
        ("PI", "requests in flight at 66 sessions", "24"),
        ("PI", "tokens of a decode GPU, FP8 to NVFP4", "1.576x"),
    ],
)
def test_ours_are_what_they_were_by_hand(source: str, what: str, ours: str) -> None:
    assert CLAIMS[source, what].ours == ours
