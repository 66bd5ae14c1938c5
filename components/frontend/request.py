"""The chat-completion request, typed.

Dynamo's HTTP server has parsed and range-checked the body before it reaches us, for ``/v1/chat/completions`` and,
turned into chat, for ``/v1/responses`` and ``/v1/messages``. What it leaves open is decided here.
"""

from typing import Any

import msgspec

from components.frontend.errors import RequestError

Json = dict[str, Any]


class StreamOptions(msgspec.Struct, frozen=True):
    """OpenAI's ``stream_options``."""

    include_usage: bool = False


class ChatRequest(msgspec.Struct, frozen=True):
    """The fields this frontend acts on, under OpenAI's names and vLLM's where OpenAI has none.

    Token limits are in tokens; ``None`` means that the client did not say.
    """

    model: str
    messages: list[Json]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    min_tokens: int | None = None
    n: int | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    include_stop_str_in_output: bool | None = None
    ignore_eos: bool | None = None
    skip_special_tokens: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    seed: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    response_format: Json | None = None
    guided_json: Any = None
    guided_regex: str | None = None
    guided_choice: list[str] | None = None
    guided_grammar: str | None = None
    tools: list[Json] | None = None
    tool_choice: str | Json | None = None
    parallel_tool_calls: bool | None = None
    reasoning_effort: str | None = None
    chat_template_kwargs: Json | None = None
    chat_template_args: Json | None = None
    continue_final_message: bool | None = None
    prompt_cache_key: str | None = None
    nvext: Json | None = None

    @property
    def streaming(self) -> bool:
        """Whether the client reads the answer as it is made."""
        return bool(self.stream)

    @property
    def wants_usage(self) -> bool:
        """Whether the answer carries usage: always when whole, on request when streamed."""
        return not self.streaming or bool(self.stream_options and self.stream_options.include_usage)

    @property
    def limit(self) -> int | None:
        """Most tokens to generate, ``max_completion_tokens`` before the older ``max_tokens``."""
        return self.max_completion_tokens if self.max_completion_tokens is not None else self.max_tokens

    @property
    def stop_strings(self) -> list[str]:
        """The stop strings as a list."""
        return [self.stop] if isinstance(self.stop, str) else list(self.stop or ())


def read_request(body: Json) -> ChatRequest:
    """Return the typed request.

    Raises:
        RequestError: If a field has the wrong type, or asks for what one sampled answer cannot give.
    """
    try:
        request = msgspec.convert(body, ChatRequest)
    except msgspec.ValidationError as error:
        raise RequestError(str(error)) from error
    _refuse_unserved(request)
    return request


def _refuse_unserved(request: ChatRequest) -> None:
    if request.n is not None and request.n != 1:
        raise RequestError(f"{request.n} choices were asked for, 1 is served: send the request {request.n} times", "n")
    if request.top_logprobs and not request.logprobs:
        raise RequestError("needs logprobs to be true", "top_logprobs")
    if request.logit_bias:
        raise RequestError("is not supported: Dynamo's engine protocol does not carry it", "logit_bias")
    if request.continue_final_message:
        raise RequestError("is not supported: end with a user or tool message", "continue_final_message")
