import pytest

from components.kvcache.error.conversation import AGAIN, LED, Conversation, measure
from components.kvcache.error.small import made_up_tokens, small_model
from components.kvcache.rows import BF16, FP8, NVFP4_DS_MLA

TOKENS = 150


@pytest.fixture(scope="module")
def told() -> list[int]:
    return []


@pytest.fixture(scope="module")
def talked(told: list[int]) -> Conversation:
    return measure(small_model(TOKENS, 16, 0), made_up_tokens(TOKENS, 0), 2, (NVFP4_DS_MLA, FP8, BF16), told.append)


def test_every_run_has_figures_of_every_turn_and_layer(talked: Conversation) -> None:
    runs = ["nvfp4_ds_mla", "fp8_e4m3", "bfloat16", AGAIN, LED]
    assert talked.context_tokens == [75, 150]
    assert {name: len(turns) for name, turns in talked.by_turn.items()} == dict.fromkeys(runs, 2)
    assert {name: len(layers) for name, layers in talked.by_layer.items()} == dict.fromkeys(runs, 4)


def test_all_steps_are_told_of(talked: Conversation, told: list[int]) -> None:
    assert talked.by_turn
    assert told == [59, *[1] * 16] * 2


def test_the_first_layer_has_the_rows_error_alone(talked: Conversation) -> None:
    for name, error in (("nvfp4_ds_mla", 0.095), ("fp8_e4m3", 0.0265), ("bfloat16", 0.00166)):
        first, *others = talked.by_layer[name]
        assert first.given.relative == 0.0
        assert first.stored.relative == pytest.approx(error, rel=0.03)
        assert min(each.given.relative for each in others) > 0.0


def test_fewer_bits_mean_more_error_of_words(talked: Conversation) -> None:
    four, eight, sixteen = (
        [turn.divergence or 0.0 for turn in talked.by_turn[name]] for name in ("nvfp4_ds_mla", "fp8_e4m3", "bfloat16")
    )
    assert all(a > b > c > 0.0 for a, b, c in zip(four, eight, sixteen, strict=True))


def test_a_led_run_selects_as_the_exact_one_does(talked: Conversation) -> None:
    assert [turn.selection for turn in talked.by_turn[LED]] == [1.0, 1.0]
    assert all((turn.selection or 0.0) < 1.0 for turn in talked.by_turn["nvfp4_ds_mla"])


def test_encoding_again_each_turn_makes_no_more_error(talked: Conversation) -> None:
    once, again = (talked.by_turn[name][-1] for name in ("nvfp4_ds_mla", AGAIN))
    assert again.output.relative == pytest.approx(once.output.relative, rel=0.01)
