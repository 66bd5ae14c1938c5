from collections import Counter

import pytest

from graphs.memory.ledger import Verdict
from graphs.memory.ledger import ledger as about_memory
from graphs.ratio.claims import ledger

CLAIMS = {(claim.source, claim.what): claim for claim in ledger()}


def test_no_claim_is_made_twice_and_none_is_lost() -> None:
    assert len(CLAIMS) == len(ledger())
    assert ledger()[: len(about_memory())] == about_memory()


def test_a_claim_is_reproduced_when_it_is_printed_alike_without_being_fitted_and_only_then() -> None:
    for claim in CLAIMS.values():
        alike, fitted = claim.ours == claim.published, "chosen to fit" in claim.formula
        assert (claim.verdict is Verdict.REPRODUCED) == (alike and not fitted), claim.what
        assert (claim.verdict is Verdict.NOT_COMPUTABLE) == (not claim.ours), claim.what


def test_most_are_reproduced_and_one_cannot_be() -> None:
    counted = Counter(claim.verdict for claim in CLAIMS.values())
    assert counted == {
        Verdict.REPRODUCED: 20,
        Verdict.EXPLAINED: 11,
        Verdict.CONTRADICTED: 1,
        Verdict.NOT_COMPUTABLE: 6,
    }
    # The four that are fitted are printed alike as well.
    assert sum(claim.ours == claim.published for claim in CLAIMS.values()) == 24
    assert [claim.published for claim in CLAIMS.values() if claim.verdict is Verdict.CONTRADICTED] == ["19,559"]


def test_whatever_is_not_reproduced_says_why() -> None:
    for claim in CLAIMS.values():
        assert len(claim.formula) > (0 if claim.verdict is Verdict.REPRODUCED else 25), claim.what


@pytest.mark.parametrize(
    ("source", "what", "ours", "says"),
    [
        # 2 x 64 x 1,088 x 2,048 over 2 x 32 x 128, and 78 / 21 x 2 times that.
        ("vLLM", "context at which the indexer costs most", "34K, 253K", "at 34,816 tokens"),
        # 432 / (1.76 + 432 x 0.00608); 216 / (1.76 + 216 x 0.00608) is 70.
        ("PI", "E2E for each of 66 users at 1:4", "98 tok/s", "of 216 tokens it is 70"),
        # 66 x 432 / 2,400 less 4.39.
        ("PI", "for each of 24 GPUs then", "", "a mean of 7.5 s"),
        ("PI", "transfer, layer-major to block-major", "", "3.9 us a piece and 86 GB/s"),
        ("PI", "prefill chunk", "", "1.0 PFLOP"),
    ],
)
def test_ours_are_what_they_were_by_hand(source: str, what: str, ours: str, says: str) -> None:
    claim = CLAIMS[source, what]
    assert claim.ours == ours
    assert says in claim.formula
