import numpy as np
import pytest
import torch
from torch import Tensor

from components.kvcache.attention import sparse_mla_decode
from components.kvcache.codec import encode
from components.kvcache.rows import NVFP4_DS_MLA
from components.kvcache.writer import write_rotated_rows, write_rows
from tests.components.kvcache import oracle
from tests.components.kvcache.latents import hard_latents, normal, random

POISON = 0xA5


def empty_cache(blocks: int, block_tokens: int, *, block_major: bool) -> tuple[Tensor, Tensor]:
    """A poisoned cache and the memory it lies in."""
    memory = torch.full((blocks, (3 if block_major else 1) * block_tokens * 352), POISON, dtype=torch.uint8)
    return memory[:, : block_tokens * 352].unflatten(1, (block_tokens, 352)), memory


def written(cache: Tensor, slots: Tensor) -> Tensor:
    return cache[slots // cache.shape[1], slots % cache.shape[1]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_byte_is_the_oracles(dtype: torch.dtype) -> None:
    tokens = 48
    latent = hard_latents(3)[:tokens].to(dtype)
    rope = (normal(tokens, 64, seed=4) * torch.logspace(-4, 3.5, 64)).to(dtype)
    rope[0, :4] = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0])
    # The middles between denormal codes of e4m3.
    rope[1] = (torch.arange(64) - 32) * 2.0**-10
    slots = torch.randperm(2 * tokens, generator=random(5))[:tokens]
    cache, _ = empty_cache(12, 8, block_major=False)
    write_rows(latent, rope, slots, cache)
    rows = written(cache, slots).numpy()
    assert np.array_equal(rows, oracle.nvfp4_rows(latent.float().numpy(), rope.float().numpy()))
    assert len(np.unique(rows[:, 320:])) > 60


@pytest.mark.parametrize("block_major", [False, True], ids=["layer-major", "block-major"])
@pytest.mark.parametrize("index_dtype", [torch.int64, torch.int32])
def test_only_the_slots_rows_are_written(*, block_major: bool, index_dtype: torch.dtype) -> None:
    latent, rope = normal(5), normal(5, 64, seed=1)
    slots = torch.tensor([11, -1, 0, 6, -5], dtype=index_dtype)
    cache, memory = empty_cache(3, 4, block_major=block_major)
    write_rows(latent, rope, slots, cache)
    wanted = torch.full_like(memory, POISON)
    rows = encode(latent, rope, NVFP4_DS_MLA)
    for slot, row in ((11, rows[0]), (0, rows[2]), (6, rows[3])):
        wanted[slot // 4, slot % 4 * 352 :][:352] = row
    assert torch.equal(memory, wanted)


def test_no_token_is_no_launch() -> None:
    cache, memory = empty_cache(1, 4, block_major=False)
    write_rows(torch.zeros(0, 512), torch.zeros(0, 64), torch.zeros(0, dtype=torch.int64), cache)
    assert (memory == POISON).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rope_is_rotated_in_float32_by_the_tokens_position(dtype: torch.dtype) -> None:
    tokens = 9
    positions = torch.tensor([0, 1, 7, 3, 3, 100, 50, 2, 99])
    angles = torch.arange(101)[:, None] * 10000.0 ** (-torch.arange(32) / 32)
    cos_sin = torch.cat([angles.cos(), angles.sin()], dim=1)
    latent, rope = normal(tokens).to(dtype), (normal(tokens, 64, seed=2) * 5).to(dtype)
    cache, _ = empty_cache(3, 4, block_major=True)
    slots = torch.arange(tokens) + 2
    write_rotated_rows(latent, rope, slots, cache, positions=positions, cos_sin=cos_sin)
    # A rotation is a multiplication of complex numbers; in float64, where no code of e4m3 is a tie by chance.
    pairs = torch.view_as_complex(rope.double().view(tokens, 32, 2))
    turn = torch.complex(cos_sin[positions, :32].double(), cos_sin[positions, 32:].double())
    rotated = torch.view_as_real(pairs * turn).flatten(1).float()
    assert not torch.allclose(rotated[1:], rope[1:].float())
    expected = oracle.nvfp4_rows(latent.float().numpy(), rotated.numpy())
    assert np.array_equal(written(cache, slots).numpy(), expected)


def test_what_the_writer_wrote_the_decode_kernel_reads() -> None:
    latent, rope = normal(6, seed=8), normal(6, 64, seed=9)
    slots = torch.tensor([5, 0, 7, 2, 9, 4])
    cache, _ = empty_cache(5, 2, block_major=True)
    write_rows(latent, rope, slots, cache)
    out, _ = sparse_mla_decode(normal(6, 576, seed=10)[:, None], cache, slots.int()[:, None], scale=1.0)
    # One row each: what comes back is that row, 9.5 % off the Gaussian that went in.
    error = (out[:, 0] - latent).norm() / latent.norm()
    assert 0.08 < error < 0.11
