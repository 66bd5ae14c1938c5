import pytest
import torch

from components.kvcache.error.made_up import Figure, Focus, Kind, latents, measure
from components.kvcache.rows import BF16, FP8, NVFP4_DS_MLA

ROWS = (NVFP4_DS_MLA, FP8, BF16)


@pytest.fixture(scope="module")
def figures() -> list[Figure]:
    return list(measure(Kind.GAUSSIAN, (256, 1024), 512, ROWS, seed=0))


def test_each_context_and_row_has_a_figure(figures: list[Figure]) -> None:
    seen = [(each.context_tokens, each.selected_tokens, each.row) for each in figures]
    assert seen == [(context, min(context, 512), row.cache_dtype) for context in (256, 1024) for row in ROWS]


def test_gaussian_latents_have_the_codecs_error(figures: list[Figure]) -> None:
    assert [each.latent.relative for each in figures[3:]] == pytest.approx([0.095, 0.0265, 0.00166], rel=0.02)


def test_fewer_bits_mean_more_error_of_the_output(figures: list[Figure]) -> None:
    for focus in Focus:
        four, eight, sixteen = (each.output[focus].relative for each in figures[3:])
        assert four > 2 * eight > 20 * sixteen > 0


def test_peaked_attention_has_more_error_than_flat(figures: list[Figure]) -> None:
    assert all(each.output[Focus.PEAKED].relative > each.output[Focus.FLAT].relative for each in figures)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind != Kind.SMALL])
def test_latents_are_normed_token_by_token(kind: Kind) -> None:
    values = latents(kind, 50, torch.Generator().manual_seed(0))
    assert values.shape == (50, 512)
    assert torch.allclose(values.square().mean(-1), torch.ones(50), atol=1e-4)


def test_tails_are_as_heavy_as_named() -> None:
    def kurtosis(kind: Kind) -> float:
        return float(latents(kind, 2000, torch.Generator().manual_seed(0)).pow(4).mean())

    assert kurtosis(Kind.GAUSSIAN) == pytest.approx(3, rel=0.05)
    assert kurtosis(Kind.STUDENT_T) > 6
    assert kurtosis(Kind.OUTLIER_CHANNELS) > 6


def test_outliers_are_whole_channels() -> None:
    sizes = latents(Kind.OUTLIER_CHANNELS, 500, torch.Generator().manual_seed(0)).square().mean(0)
    assert (sizes > 10 * sizes.median()).sum() == 8
