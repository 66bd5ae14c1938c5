import pytest

from graphs.memory.ledger import ledger

CLAIMS = {(claim.source, claim.what): claim for claim in ledger()}


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
