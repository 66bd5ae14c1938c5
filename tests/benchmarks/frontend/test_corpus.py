import random

import pytest
from tokenizers import Tokenizer

from benchmarks.frontend.corpus import Corpus


def seeded(seed: int) -> random.Random:
    return random.Random(seed)


def length(tokenizer: Tokenizer, text: str) -> int:
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("tokens", [1000, 20_000])
def test_a_text_has_the_length_asked_for(corpus: Corpus, tokenizer: Tokenizer, tokens: int) -> None:
    assert length(tokenizer, corpus.text(tokens, seeded(1))) == pytest.approx(tokens, rel=0.05)


def test_texts_differ_by_seed_and_only_by_it(corpus: Corpus) -> None:
    texts = [corpus.text(1000, seeded(seed)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_a_conversation_ends_with_the_user(corpus: Corpus) -> None:
    messages = corpus.conversation(4000, seeded(1))
    assert [message["role"] for message in messages] == ["assistant", "user", "assistant", "user"]


def test_the_next_turn_only_appends_an_answer_and_a_question(corpus: Corpus, tokenizer: Tokenizer) -> None:
    first = corpus.conversation(3000, seeded(1))
    second = corpus.next_turn(first, 6000, seeded(2))
    assert second[: len(first)] == first
    new = second[len(first) :]
    assert [message["role"] for message in new] == ["assistant", "user"]
    assert sum(length(tokenizer, message["content"]) for message in new) == pytest.approx(6000, rel=0.05)
