"""vLLM's parser for GLM-4.7 to 5.3, driven as vLLM's chat completions drive it: `--tool-call-parser glm47`.

Its tokens here are single characters and GLM's markers.
"""

import re
from collections.abc import Sequence
from importlib import import_module, metadata
from typing import Any, Final

from components.local import markers
from components.peers.stand_ins import stand_in
from toolcall.conformance import Case, ReadCall, Reading

_NAME: Final = "glm47"
_FIRST_CHARACTER: Final = 256
"""Token id of character 0; GLM's markers have the ids below."""

stand_in(
    {
        "cachetools",
        "cbor2",
        "cloudpickle",
        "cpuinfo",
        "fastapi",
        "ijson",
        "mistral_common",
        "openai_harmony",
        "partial_json_parser",
        "PIL",
        "pybase64",
    }
)
_chat: Final = import_module("vllm.entrypoints.openai.chat_completion.protocol")
_whole: Final = import_module("vllm.entrypoints.openai.chat_completion.message_assembly")
_stream: Final = import_module("vllm.entrypoints.openai.chat_completion.stream_processor")
_PARSER: Final = import_module("vllm.parser.parser_manager").ParserManager.get_parser(
    tool_parser_name=_NAME, reasoning_parser_name=_NAME, enable_auto_tools=True
)


class Tokenizer:
    """What vLLM's parser asks of a tokenizer."""

    chat_template = None
    all_special_tokens: Final = list(markers.SPECIAL)
    all_special_ids: Final = list(range(len(markers.SPECIAL)))
    _markers = (*markers.SPECIAL, *markers.STRUCTURE)
    _vocabulary: Final = {text: index for index, text in enumerate(_markers)}
    _split: Final = re.compile("|".join(map(re.escape, _markers)) + "|.", re.DOTALL)

    def get_vocab(self) -> dict[str, int]:
        """Return the markers' ids."""
        return self._vocabulary

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return [
            self._vocabulary[token] if len(token) > 1 else _FIRST_CHARACTER + ord(token)
            for token in self._split.findall(text)
        ]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""
        return "".join(self._markers[at] if at < _FIRST_CHARACTER else chr(at - _FIRST_CHARACTER) for at in ids)


_TOKENIZER: Final = Tokenizer()


def version() -> str:
    """Return vLLM's version."""
    return metadata.version("vllm")


class Reader:
    """One reading of a case.

    Raises:
        ValueError: vLLM refuses the request.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        tail = case.prompt_tail or ("<|assistant|><think>" if case.thinking else "<|assistant|></think>")
        self._prompt = _TOKENIZER.encode(tail)
        self._request = _chat.ChatCompletionRequest(
            messages=[{"role": "user", "content": ""}],
            tools=case.tools or None,
            # Only a request that turned thinking off has a prompt that closes it.
            chat_template_kwargs={"enable_thinking": False} if tail.endswith(markers.END_THINK) else {},
            **{
                name: value
                for name in ("tool_choice", "parallel_tool_calls")
                if (value := getattr(case, name)) is not None
            },
        )
        self._parser = _PARSER(_TOKENIZER, self._request.tools, chat_template_kwargs=self._request.chat_template_kwargs)
        self._stream = _stream.ChatStreamProcessor(
            self._request, self._parser, enable_auto_tools=True, parser_cls=_PARSER
        )
        self._waiting = ""
        self._deltas: list[Any] = []

    def whole(self) -> Reading:
        """Read the whole output at once."""
        output = self._case.output
        self._parser.set_prompt_token_ids(self._prompt)
        parsed = self._parser.parse(
            output, self._request, enable_auto_tools=True, model_output_token_ids=_TOKENIZER.encode(output)
        )
        message = _whole.assemble_chat_message_fields(
            self._request, *parsed, enable_auto_tools=True, parser_cls=_PARSER
        )
        calls = tuple(ReadCall(call.function.name, call.function.arguments) for call in message.tool_calls)
        return Reading(message.reasoning or "", message.content or "", calls)

    def feed(self, text: str) -> None:
        """Read more of the output, in streaming; a marker is one token and waits until it is whole."""
        self._waiting += text
        stop = _cut_marker(self._waiting)
        ready, self._waiting = self._waiting[:stop], self._waiting[stop:]
        if ready:
            self.step(ready, _TOKENIZER.encode(ready))

    def step(self, text: str, ids: list[int], finish: str | None = None) -> None:
        """Read what one step of the engine adds.

        Args:
            text: Its text.
            ids: Its tokens.
            finish: The engine's finish reason in the last step.
        """
        self._deltas.append(self._stream.step(text, ids, finish, self._prompt).delta)

    def finish(self) -> Reading:
        """End the stream and return what came of it."""
        end = [] if self._case.engine_finish == "length" else [_TOKENIZER.get_vocab()[markers.END_OF_TEXT]]
        self.step(self._waiting, _TOKENIZER.encode(self._waiting) + end, self._case.engine_finish)
        deltas = [delta for delta in self._deltas if delta is not None]
        calls: dict[int, tuple[list[str], list[str]]] = {}
        for call in (call for delta in deltas for call in delta.tool_calls or ()):
            name, arguments = calls.setdefault(call.index, ([], []))
            if call.function is not None:
                name.append(call.function.name or "")
                arguments.append(call.function.arguments or "")
        return Reading(
            "".join(delta.reasoning or "" for delta in deltas),
            "".join(delta.content or "" for delta in deltas),
            tuple(ReadCall(*map("".join, calls[index])) for index in sorted(calls)),
        )


def _cut_marker(text: str) -> int:
    """Return where a marker that is not whole yet begins; the length of the text when there is none."""
    at = max(text.rfind("<"), text.rfind("["))
    rest = text[at:] if at >= 0 else ""
    cut = rest and any(marker.startswith(rest) and marker != rest for marker in _TOKENIZER.get_vocab())
    return at if cut else len(text)
