from graphs.checks.agreement import agreement
from tests.graphs.conftest import Resolve


def test_the_packaged_configuration_agrees_with_itself(configure: Resolve) -> None:
    assert [(check.name, check.found, check.ok) for check in agreement(configure())] == [
        ("KV block size", "64", True),
        ("model name", "glm-5.3-stand-in", True),
    ]


def test_different_block_sizes_are_refused_with_their_places(configure: Resolve) -> None:
    check, _ = agreement(configure("--Decode.block-size=32"))
    assert str(check) == (
        "KV block size: Frontend.kv-cache-block-size is 64, Prefill.block-size is 64, Decode.block-size is 32: "
        "give them one value, in Common"
    )


def test_different_model_names_are_refused(configure: Resolve) -> None:
    _, check = agreement(configure("--Decode.model-name=x"))
    assert not check.ok


def test_saying_nothing_is_agreement(configure: Resolve) -> None:
    assert all(check.ok for check in agreement(configure(text="")))
