import pytest

from tests.graphs.checks.engines.conftest import Refused

BOTH = ("Prefill", "Decode")


def drafting(*settings: str) -> list[str]:
    return [f"--{stage}.{setting}" for stage in BOTH for setting in settings]


@pytest.mark.parametrize(
    "settings",
    [
        ("speculative-config={method: mtp, num_speculative_tokens: 3}",),
        ("spec-method=mtp", "spec-tokens=3"),
        ("speculative-config={method: mtp}", "spec-tokens=3"),
    ],
)
def test_mtp_is_said_as_vllm_takes_it(refused: Refused, settings: tuple[str, ...]) -> None:
    assert refused(*drafting(*settings)) == []


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (("speculative-config={method: mtp, num_speculative_tokens: 3}", "spec-tokens=3"), "give one of the two"),
        (("speculative-config={method: mtp, num_speculative_tokens: 3}", "spec-method=mtp"), "give one of the two"),
        (("speculative-config={method: mtp}",), "it drafts no token: set num_speculative_tokens, such as 3"),
        (("spec-method=mtp", "spec-tokens=3", "enable-dbo"), "dual batch overlap does not go with drafting"),
    ],
)
def test_what_vllm_would_refuse_is_refused(refused: Refused, settings: tuple[str, ...], problem: str) -> None:
    assert len([line for line in refused(*drafting(*settings)) if problem in line]) == 2
