"""Chats that share what the prompts of a trace share."""

from itertools import combinations, takewhile

import pytest
from tokenizers import Tokenizer

from benchmarks.router.live.prompts import Prompts, single_words
from benchmarks.router.live.slice import take
from components.frontend.template import ChatTemplate
from components.local.model import make_model
from router.replay.generator import generate
from router.replay.runs import common_prefix, length
from router.replay.trace import Session, Trace, Turn

WORDS_PER_BLOCK = 8
MARKUP = 16
"""Tokens that the template may put around each message, and before the first."""


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> ChatTemplate:
    folder = tmp_path_factory.mktemp("template")
    make_model(folder)
    return ChatTemplate((folder / "chat_template.jinja").read_text())


@pytest.fixture(scope="module")
def cut() -> Trace:
    whole = take(generate(40, 5))
    return Trace(whole.name, whole.block_size, whole.sessions[:6])


def test_a_word_is_one_token(tokenizer: Tokenizer) -> None:
    words = single_words(tokenizer)

    assert len(words) > 500
    assert len(tokenizer.encode("".join(f" {word}" for word in words), add_special_tokens=False).ids) == len(words)


def test_prompts_share_as_many_tokens_as_they_share_blocks(
    tokenizer: Tokenizer, template: ChatTemplate, cut: Trace
) -> None:
    prompts = Prompts(cut, single_words(tokenizer), WORDS_PER_BLOCK)
    sent: list[tuple[Turn, int, list[int]]] = []
    for number, session in enumerate(cut.sessions):
        for at, turn in enumerate(session.turns[:3]):
            chat = prompts.chat(number, at)
            text = template.render(list(chat), None, add_generation_prompt=True)
            sent.append((turn, len(chat), tokenizer.encode(text, add_special_tokens=False).ids))

    for turn, messages, ids in sent:
        assert 0 <= len(ids) - length(turn.blocks) * WORDS_PER_BLOCK <= MARKUP * (messages + 1)
    for (one, messages, mine), (other, _, yours) in combinations(sent, 2):
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(mine, yours, strict=False)))
        expected = common_prefix(one.blocks, other.blocks) * WORDS_PER_BLOCK
        assert 0 <= shared - expected <= MARKUP * (messages + 1)
    assert any(common_prefix(one.blocks, other.blocks) for (one, _, _), (other, _, _) in combinations(sent, 2))


def test_a_chat_grows_by_an_answer_and_what_the_user_says_next(tokenizer: Tokenizer) -> None:
    turns = (Turn(256, 1, 0.0, 0.0, ((0, 4),)), Turn(512, 1, 0.0, 0.0, ((0, 8),)))
    others = (Turn(256, 1, 0.0, 0.0, ((0, 2), (100, 2))),)
    prompts = Prompts(
        Trace("t", 64, (Session("a", turns), Session("b", others))), single_words(tokenizer), WORDS_PER_BLOCK
    )

    first, second, other = prompts.chat(0, 0), prompts.chat(0, 1), prompts.chat(1, 0)

    assert [message["role"] for message in second] == ["system", "user", "assistant", "user"]
    assert second[:2] == first
    # What two sessions have in common is what the system says to both.
    assert other[0] == first[0]
    assert other[1] != first[1]
