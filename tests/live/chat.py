"""Chat completions as the tests ask for them: through the `openai` client, streams joined."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from openai import OpenAI
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage

Json = dict[str, Any]
NO_THINKING: Json = {"chat_template_kwargs": {"enable_thinking": False}}
"""Fields beyond OpenAI's that let the answer begin with its content."""


def blocks(tokens: int) -> int:
    """Tokens in the whole KV blocks of a prompt, which is what a later turn can find."""
    return tokens // 64 * 64


def user(text: str) -> list[Any]:
    """A conversation that begins with this."""
    return [{"role": "user", "content": text}]


@dataclass
class Answer:
    """An answer, whole or joined from its chunks, in a form that compares equal for both.

    Attributes:
        calls: Name and JSON text of the arguments of each call.
        call_ids: Their ids, which are new for each answer.
        timing: Where the time went, if a whole answer was asked for that.
    """

    content: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    finish_reason: str | None = None
    call_ids: list[str] = field(default_factory=list, compare=False)
    usage: CompletionUsage | None = field(default=None, compare=False)
    logprobs: list[Any] = field(default_factory=list, compare=False)
    id: str = field(default="", compare=False)
    timing: Json = field(default_factory=dict, compare=False)


def answer_of(completion: ChatCompletion) -> Answer:
    """Read a whole answer."""
    (choice,) = completion.choices
    calls = choice.message.tool_calls or []
    functions = [call.function for call in calls if call.type == "function"]
    return Answer(
        content=choice.message.content or "",
        reasoning=reasoning_of(choice.message),
        calls=[(function.name, function.arguments) for function in functions],
        finish_reason=choice.finish_reason,
        call_ids=[call.id for call in calls],
        usage=completion.usage,
        logprobs=list((choice.logprobs and choice.logprobs.content) or []),
        id=completion.id,
        timing=(completion.model_extra or {}).get("nvext", {}).get("timing", {}),
    )


def reasoning_of(message: ChatCompletionMessage | Any) -> str:
    """The reasoning of a message or a delta, which the client's types do not know."""
    return getattr(message, "reasoning_content", None) or ""


def join(chunks: Iterable[ChatCompletionChunk]) -> Answer:
    """Join a stream as clients do, and see that its form is right."""
    answer = Answer()
    roles: list[str] = []
    for chunk in chunks:
        assert answer.id in ("", chunk.id)
        answer.id = chunk.id
        if not chunk.choices:
            assert answer.usage is None, "usage comes once"
            assert chunk.usage is not None
            assert answer.finish_reason is not None, "usage comes last"
            answer.usage = chunk.usage
            continue
        (choice,) = chunk.choices
        assert answer.finish_reason is None, "nothing comes after the finish reason"
        roles += [choice.delta.role] if choice.delta.role else []
        answer.content += choice.delta.content or ""
        answer.reasoning += reasoning_of(choice.delta)
        answer.logprobs += (choice.logprobs and choice.logprobs.content) or []
        _join_calls(answer, choice.delta.tool_calls or [])
        answer.finish_reason = choice.finish_reason
    assert answer.finish_reason is not None, "a stream ended without a finish reason"
    assert roles == ["assistant"]
    return answer


def _join_calls(answer: Answer, deltas: Iterable[Any]) -> None:
    for delta in deltas:
        if delta.index == len(answer.calls):
            assert delta.id
            assert delta.type == "function"
            assert delta.function.name
            answer.call_ids.append(delta.id)
            answer.calls.append((delta.function.name, ""))
        else:
            assert delta.index == len(answer.calls) - 1, "calls come one after another"
            assert (delta.id, delta.function.name) == (None, None), "a call is introduced once"
        name, arguments = answer.calls[-1]
        answer.calls[-1] = name, arguments + (delta.function.arguments or "")


class Chat:
    """The endpoint through the `openai` client, with the model's name filled in."""

    def __init__(self, client: OpenAI, model: str) -> None:
        self.client = client
        self.model = model

    @classmethod
    @contextmanager
    def at(cls, url: str, model: str) -> Generator[Self]:
        """A client of the graph at this URL, which raises at the first error."""
        with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
            yield cls(client, model)

    def whole(self, messages: Any, **fields: Any) -> Answer:
        """Ask for an answer in one piece."""
        completion: ChatCompletion = self.client.chat.completions.create(model=self.model, messages=messages, **fields)
        return answer_of(completion)

    def chunks(self, messages: Any, **fields: Any) -> Generator[ChatCompletionChunk]:
        """Ask for a stream, and yield its chunks."""
        with self.client.chat.completions.create(model=self.model, messages=messages, stream=True, **fields) as stream:
            yield from stream

    def stream(self, messages: Any, **fields: Any) -> Answer:
        """Ask for a stream, and join it."""
        return join(self.chunks(messages, **fields))

    def both(self, messages: Any, **fields: Any) -> Answer:
        """Ask for both, see that they say the same, and return the whole one."""
        whole = self.whole(messages, **fields)
        assert self.stream(messages, **fields) == whole
        return whole

    def first(self, messages: Any, wanted: Callable[[Answer], object], **fields: Any) -> Answer:
        """The answer of the first seed whose answer is as wanted: the stand-in's answers are random."""
        for seed in range(60):
            if wanted(answer := self.whole(messages, seed=seed, **fields)):
                return answer
        raise AssertionError("no seed gives such an answer")
