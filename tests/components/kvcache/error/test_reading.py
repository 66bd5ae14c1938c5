import pytest
import torch
from torch import Tensor

from components.kvcache.codec import decode, encode
from components.kvcache.error.reading import Reader
from components.kvcache.error.small import made_up_tokens, small_model
from components.kvcache.rows import BF16, NVFP4_DS_MLA

TOKENS = 96
TOPK = 24


@pytest.fixture(scope="module")
def ids() -> Tensor:
    return made_up_tokens(TOKENS, 0)


@pytest.fixture(scope="module")
def expected(ids: Tensor) -> Tensor:
    """The logits of transformers' own attention."""
    with torch.no_grad():
        return small_model(TOKENS, TOPK, 0)(input_ids=ids[None], use_cache=False).logits[0]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(small_model(TOKENS, TOPK, 0))


def test_exact_rows_give_the_logits_of_transformers(reader: Reader, ids: Tensor, expected: Tensor) -> None:
    run = reader.run("exact", None, TOKENS)
    assert torch.allclose(reader.read(run, ids), expected, atol=1e-4)
    assert expected.std() > 0.5


def test_reading_in_steps_and_token_by_token_gives_the_same(reader: Reader, ids: Tensor, expected: Tensor) -> None:
    run = reader.run("exact", None, TOKENS)
    steps = [reader.read(run, step) for step in ids.split([40, 1, 1, 54])]
    assert torch.allclose(torch.cat(steps), expected, atol=1e-4)
    assert run.tokens == TOKENS


def test_what_is_read_is_what_the_row_holds(reader: Reader, ids: Tensor) -> None:
    run = reader.run("four bits", NVFP4_DS_MLA, TOKENS)
    reader.read(run, ids[:50])
    reader.read(run, ids[50:])
    for seen, cache in zip(run.seen, run.caches, strict=True):
        held, _ = decode(encode(seen.latent, torch.zeros(len(seen.latent), 64), NVFP4_DS_MLA), NVFP4_DS_MLA)
        assert torch.equal(seen.stored, held)
        assert torch.equal(cache.rows[50:, :512], held)
        assert not torch.equal(seen.stored, seen.latent)


def test_errors_of_rows_come_back_in_later_layers(reader: Reader, ids: Tensor) -> None:
    exact, coarse, fine = (reader.run("", row, TOKENS) for row in (None, NVFP4_DS_MLA, BF16))
    wanted = reader.read(exact, ids)
    missed = [(reader.read(run, ids) - wanted).norm().item() for run in (coarse, fine)]
    assert missed[0] > missed[1] > 0
    apart = [(ours.latent - theirs.latent).norm().item() for ours, theirs in zip(coarse.seen, exact.seen, strict=True)]
    assert apart[0] == 0.0
    assert min(apart[1:]) > 0.0


def test_a_led_run_uses_the_leaders_selections(reader: Reader, ids: Tensor) -> None:
    exact = reader.run("exact", None, TOKENS)
    led = reader.run("led", NVFP4_DS_MLA, TOKENS, exact)
    for step in ids.split(48):
        reader.read(exact, step)
        reader.read(led, step)
    assert [each.selected is not None for each in led.seen] == [True, False, True, False]
    assert all(ours.selected is theirs.selected for ours, theirs in zip(led.seen, exact.seen, strict=True))


def test_encoding_again_changes_nothing_of_settled_rows(reader: Reader, ids: Tensor) -> None:
    run = reader.run("", NVFP4_DS_MLA, TOKENS)
    reader.read(run, ids)
    for cache in run.caches:
        cache.encode_again()
        settled = cache.rows.clone()
        cache.encode_again()
        assert torch.equal(cache.rows, settled)
        assert settled.any()
