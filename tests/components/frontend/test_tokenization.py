"""Incremental prompt tokenization against tokenizing whole."""

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

from components.frontend.tokenization import BLOCK_CHARACTERS, PromptTokenizer, splits_at_added_tokens
from components.local.model import make_model

MARKERS = [
    "[gMASK]",
    "<sop>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|observation|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<arg_key>",
    "</arg_value>",
]
PIECES = st.one_of(
    st.sampled_from(MARKERS),
    st.sampled_from([" ", "\n\n", "<", "<|", "|>", "</thin", "12345678", "don't", "  x", "\r\n \t", "é", "世界", "🙂"]),
    st.text(max_size=12),
)
TURNS = st.lists(PIECES, max_size=30).map("".join)


def whole(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.fixture(scope="module")
def prompts(tokenizer: Tokenizer) -> PromptTokenizer:
    return PromptTokenizer(tokenizer)


def test_the_stand_ins_tokenizer_splits_at_its_added_tokens(tokenizer: Tokenizer) -> None:
    assert splits_at_added_tokens(tokenizer)


@settings(max_examples=400, deadline=None)
@given(turns=st.lists(TURNS, min_size=1, max_size=4))
def test_a_growing_prompt_has_the_ids_of_tokenizing_it_whole(
    prompts: PromptTokenizer, tokenizer: Tokenizer, turns: list[str]
) -> None:
    text = ""
    for turn in turns:
        text += turn
        assert prompts.encode(text).tolist() == whole(tokenizer, text)


@settings(max_examples=4, deadline=None)
@given(turns=st.lists(TURNS, min_size=8, max_size=30), seed=st.integers(0, 10**6))
def test_a_prompt_of_many_blocks_has_the_ids_of_tokenizing_it_whole(
    prompts: PromptTokenizer, tokenizer: Tokenizer, turns: list[str], seed: int
) -> None:
    filler = " ".join(f"word{seed * n % 9973}" for n in range(4000))
    text = "".join(f"{filler}<|user|>{turn}" for turn in turns)
    assert len(text) > 2 * BLOCK_CHARACTERS

    assert prompts.encode(text).tolist() == whole(tokenizer, text)
    assert prompts.encode(text + turns[0]).tolist() == whole(tokenizer, text + turns[0])


def test_old_text_is_not_encoded_again(tokenizer: Tokenizer) -> None:
    prompts = PromptTokenizer(tokenizer)
    text = "".join(f"<|user|>question {n} of the session" * 50 for n in range(200))
    prompts.encode(text)
    before = prompts.cached_bytes

    prompts.encode(text + "<|assistant|>new")

    assert 0 < prompts.cached_bytes - before <= 4 * len(whole(tokenizer, "new"))


def test_the_cache_stays_within_its_bytes_and_the_ids_stay_right(tokenizer: Tokenizer) -> None:
    prompts = PromptTokenizer(tokenizer, cache_bytes=400)
    for n in range(50):
        text = f"<|user|>turn {n} with some words in it<|assistant|>and answer {n}"
        assert prompts.encode(text).tolist() == whole(tokenizer, text)
        assert prompts.cached_bytes <= 400


def test_an_added_token_that_swallows_space_is_tokenized_whole(tmp_path: Path) -> None:
    make_model(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.add_tokens([AddedToken("<pad-left>", lstrip=True)])

    assert not splits_at_added_tokens(tokenizer)
    text = "words   <pad-left> more<|user|>"
    assert PromptTokenizer(tokenizer).encode(text).tolist() == whole(tokenizer, text)


def test_an_added_token_inside_another_is_tokenized_whole(tmp_path: Path) -> None:
    make_model(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.add_tokens([AddedToken("[x<think>y]")])

    assert not splits_at_added_tokens(tokenizer)
    text = "a[x<think>y]<think>b"
    assert PromptTokenizer(tokenizer).encode(text).tolist() == whole(tokenizer, text)


def test_threads_share_one_cache(tokenizer: Tokenizer) -> None:
    prompts = PromptTokenizer(tokenizer, cache_bytes=2000)
    texts = [f"<|user|>{n} " + "word " * n for n in range(60)]
    wrong: list[str] = []

    def work() -> None:
        wrong.extend(text for text in texts * 3 if prompts.encode(text).tolist() != whole(tokenizer, text))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []
