import pytest

from tests.graphs.checks.engines.conftest import Refused

MULTI = "{kv_connector: MultiConnector, kv_role: kv_producer, kv_connector_extra_config: {connectors: [%s]}}"
NIXL = "{kv_connector: NixlConnector, kv_role: kv_producer}"


def by_hand(text: str, *, stage: str = "Prefill") -> tuple[str, str]:
    return f"--{stage}.connectors=", f"--{stage}.kv-transfer-config={text}"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ("--Prefill.connectors=",),
            "Prefill.connectors: there is none, and no KV would reach decode: set connectors: [nixl]",
        ),
        (("--Decode.connectors=",), "Decode.connectors: there is none, and no KV would reach decode"),
        ((f"--Prefill.kv-transfer-config={NIXL}",), "connectors writes it: give one of the two"),
        (
            ("--Prefill.kv-events", "--Prefill.kv-events-config={enable_kv_cache_events: true}"),
            "kv-events writes it: give one of the two",
        ),
        (
            ("--Prefill.connectors=[{offload: {gib: 1}}]",),
            "OffloadingConnector hands no request from prefill to decode: add nixl",
        ),
        (
            by_hand("{kv_connector: NixlPushConnector, kv_role: kv_producer}"),
            "Dynamo does not know NixlPushConnector: name it",
        ),
        (by_hand(MULTI % f"{NIXL}, {NIXL}"), "NixlConnector and NixlConnector would both hand over a request"),
        (by_hand(MULTI % ""), "MultiConnector hands no request from prefill to decode"),
        (by_hand("{kv_connector: NixlConnector}"), "NixlConnector has no kv_role: set kv_producer"),
        (by_hand(NIXL, stage="Decode"), "kv_producer is not the role of decode: set kv_consumer"),
        (
            ("--Prefill.ServiceArgs.envs={DYN_CONNECTOR: nixl}",),
            "Prefill environment: dynamo.vllm refuses DYN_CONNECTOR",
        ),
    ],
)
def test_a_connector_that_could_not_work_is_refused(refused: Refused, words: tuple[str, ...], problem: str) -> None:
    assert [line for line in refused(*words) if problem in line]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--Prefill.connectors=[nixl, {offload: {gib: 1}}]",),
        by_hand("{kv_connector: NixlConnector, kv_role: kv_both}"),
        by_hand(MULTI % f"{NIXL}, {{kv_connector: OffloadingConnector, kv_role: kv_both}}"),
    ],
)
def test_one_that_dynamo_can_drive_passes(refused: Refused, words: tuple[str, ...]) -> None:
    assert refused(*words) == []
