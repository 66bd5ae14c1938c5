import pytest
import torch

from components.kvcache.error.small import made_up_tokens, small_model


def test_the_second_most_frequent_token_comes_half_as_often() -> None:
    counts = torch.bincount(made_up_tokens(100_000, 0), minlength=512)
    assert len(counts) == 512
    assert counts[0].item() / counts[1].item() == pytest.approx(2, rel=0.05)
    assert counts[0].item() / counts[9].item() == pytest.approx(10, rel=0.1)


def test_the_same_seed_gives_the_same_model_and_tokens() -> None:
    first, second = (small_model(64, 8, 5).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert torch.equal(made_up_tokens(50, 5), made_up_tokens(50, 5))
    assert not torch.equal(made_up_tokens(50, 5), made_up_tokens(50, 6))


def test_the_model_caches_what_glm_does() -> None:
    config = small_model(64, 8, 0).config
    assert (config.kv_lora_rank, config.qk_rope_head_dim, config.index_head_dim) == (512, 64, 128)
    assert (config.qk_nope_head_dim, config.v_head_dim) == (192, 256)
    assert config.indexer_types == ["full", "shared", "full", "shared"]
    assert config.index_topk == 8
