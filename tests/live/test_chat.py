"""Chat completions: text, streams, usage, limits, stop strings, seeds."""

from itertools import count

import pytest

from tests.live.chat import NO_THINKING, Answer, Chat, blocks, user
from tests.live.serving import until

SYSTEM = {
    "role": "system",
    "content": "You are a careful engineer. Read before you write, and test what you wrote. " * 12,
}


def tokens(answer: Answer) -> tuple[int, int, int]:
    """Tokens of the prompt, of its cached part, and of the answer."""
    usage = answer.usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    return usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens or 0, usage.completion_tokens


def reasoning_tokens(answer: Answer) -> int:
    assert answer.usage is not None
    assert answer.usage.completion_tokens_details is not None
    return answer.usage.completion_tokens_details.reasoning_tokens or 0


def test_the_model_says_that_it_is_a_stand_in(chat: Chat) -> None:
    assert [model.id for model in chat.client.models.list()] == [chat.model]
    assert "stand-in" in chat.model


def test_an_answer_has_reasoning_text_finish_reason_and_usage(chat: Chat) -> None:
    answer = chat.whole(user("Hello"))
    assert answer.reasoning
    assert answer.content
    assert answer.finish_reason == "stop"
    prompt, _, written = tokens(answer)
    assert prompt > 0
    assert 0 < reasoning_tokens(answer) < written


@pytest.mark.parametrize("extra", [{}, NO_THINKING, {"reasoning_effort": "none"}, {"reasoning_effort": "high"}])
@pytest.mark.parametrize("question", ["Hello", "Where is the bug? 🐛 Où est-il ?", "世界 नमस्ते"])
def test_a_stream_says_what_the_whole_answer_says(chat: Chat, question: str, extra: dict[str, object]) -> None:
    answer = chat.both(user(question), temperature=0, extra_body=extra)
    assert answer.content
    assert answer.finish_reason == "stop"


def test_without_thinking_there_is_no_reasoning(chat: Chat) -> None:
    answer = chat.whole(user("Hello"), extra_body=NO_THINKING)
    assert answer.reasoning == ""
    assert reasoning_tokens(answer) == 0


def test_a_stream_has_usage_only_when_asked(chat: Chat) -> None:
    whole = chat.whole(user("Count the tokens"))
    silent = chat.stream(user("Count the tokens"))
    counted = chat.stream(user("Count the tokens"), stream_options={"include_usage": True})
    assert silent.usage is None
    assert tokens(counted) == tokens(whole)
    assert reasoning_tokens(counted) == reasoning_tokens(whole)


def test_a_stream_comes_in_pieces(chat: Chat) -> None:
    # Pieces gather for 20 ms, longer on a busy machine: this answer takes 600.
    fields = {"max_tokens": 2000, "extra_body": {"ignore_eos": True}}
    assert len(list(chat.chunks(user("Tell me a long story"), **fields))) > 3


@pytest.mark.parametrize("stream", [False, True])
def test_the_second_turn_finds_the_first_in_the_cache(chat: Chat, stream: bool) -> None:
    ask = chat.stream if stream else chat.whole
    fields = {"stream_options": {"include_usage": True}} if stream else {}
    history = [SYSTEM, *user(f"What does this repository do? ({'streamed' if stream else 'whole'})")]
    first = ask(history, **fields)
    said = {"role": "assistant", "content": first.content, "reasoning_content": first.reasoning}
    prompt, _, _ = tokens(first)
    tries = count()

    def found() -> bool:
        longer, cached, _ = tokens(ask([*history, said, *user(f"{next(tries)}: how is it tested?")], **fields))
        assert prompt < longer
        assert cached < longer
        return cached >= blocks(prompt) > 0

    # The worker tells the router what it holds after it has answered.
    until(found, "the blocks of the first turn are found")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "limit", [{"max_tokens": 9}, {"max_completion_tokens": 9}, {"max_tokens": 90, "max_completion_tokens": 9}]
)
def test_a_limit_cuts_the_answer(chat: Chat, limit: dict[str, int], stream: bool) -> None:
    fields = {"stream_options": {"include_usage": True}} if stream else {}
    answer = (chat.stream if stream else chat.whole)(user("Hello"), **limit, **fields)
    assert answer.finish_reason == "length"
    assert tokens(answer)[2] == 9


def test_a_cut_answer_is_the_beginning_of_the_whole_one(chat: Chat) -> None:
    whole = chat.whole(user("Hello"), temperature=0)
    cut = chat.both(user("Hello"), temperature=0, max_tokens=60)
    assert cut.finish_reason == "length"
    assert cut.reasoning == whole.reasoning
    assert whole.content.startswith(cut.content)
    assert cut.content != whole.content


def test_the_same_seed_gives_the_same_answer(chat: Chat) -> None:
    answers = [chat.whole(user("Surprise me"), temperature=1, seed=seed) for seed in (1, 1, 2, 3, 4)]
    assert answers[0] == answers[1]
    assert len({answer.content for answer in answers}) > 1


def boundary(pieces: list[str], after: int) -> str:
    """A text that begins in one token and ends in the next, the first such pair after so many tokens."""
    text = "".join(pieces)
    for at in range(after, len(pieces) - 1):
        stop = pieces[at][-2:] + pieces[at + 1][:3]
        if len(stop) == 5 and text.find(stop) == len("".join(pieces[:at])) + len(pieces[at]) - 2:
            return stop
    raise AssertionError("no such pair of tokens")


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_string_cut_over_tokens_ends_the_answer(chat: Chat, stream: bool) -> None:
    question = user("Explain how the cache works, at length")
    fields = {"temperature": 0, "extra_body": NO_THINKING | {"min_tokens": 60}}
    whole = chat.whole(question, logprobs=True, **fields)
    early, late = (boundary([entry.token for entry in whole.logprobs], after) for after in (10, 30))
    ask = chat.stream if stream else chat.whole
    for stop in (early, [early], ["never said", late, early]):
        answer = ask(question, stop=stop, **fields)
        assert answer.finish_reason == "stop"
        assert answer.content == whole.content[: whole.content.index(early)]
    assert ask(question, stop="never said", **fields) == whole


def test_a_stop_string_behind_the_reasoning_leaves_the_reasoning(chat: Chat) -> None:
    whole = chat.whole(user("Hello"), temperature=0)
    middle = len(whole.content) // 2
    stop = whole.content[middle : middle + 12]
    assert stop not in whole.reasoning
    answer = chat.both(user("Hello"), temperature=0, stop=stop)
    assert answer == Answer(whole.content[: whole.content.index(stop)], whole.reasoning, finish_reason="stop")
