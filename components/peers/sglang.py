"""SGLang's parsers for GLM-4.7 to 5.3, driven as SGLang's chat completions drive them.

That is `--reasoning-parser glm45 --tool-call-parser glm47`, the pair that it chooses for GLM-5.3.
"""

import json
from importlib import import_module, metadata
from typing import Any, Final

from components.peers.stand_ins import stand_in
from toolcall.conformance import Case, ReadCall, Reading

_REASONING: Final = "glm45"
_TOOL_CALL: Final = "glm47"

stand_in({"IPython", "PIL", "orjson", "partial_json_parser", "pybase64"})
_protocol: Final = import_module("sglang.srt.entrypoints.openai.protocol")
_calls: Final = import_module("sglang.srt.function_call.function_call_parser")
_reasoning: Final = import_module("sglang.srt.parser.reasoning_parser")


def version() -> str:
    """Return SGLang's version."""
    return metadata.version("sglang")


class Reader:
    """One reading of a case.

    Raises:
        ValueError: SGLang refuses the request.
    """

    def __init__(self, case: Case) -> None:
        self._output = case.output
        choice = {"tool_choice": case.tool_choice, "parallel_tool_calls": case.parallel_tool_calls}
        self._request = _protocol.ChatCompletionRequest(
            model="glm",
            messages=[{"role": "user", "content": ""}],
            tools=case.tools or None,
            **{name: value for name, value in choice.items() if value is not None},
        )
        self._forced = case.reasoning
        # Its chat completions leave the parser of calls out where no call may come.
        self._calls = self._call_parser() if self._request.tools and self._request.tool_choice != "none" else None
        self._thinking = self._reasoning_parser(streamed=True)
        self._reasoning: list[str] = []
        self._content: list[str] = []
        self._items: list[Any] = []

    def whole(self) -> Reading:
        """Read the whole output at once."""
        reasoning, content = self._reasoning_parser(streamed=False).parse_non_stream(self._output)
        items: list[Any] = []
        if self._calls is not None and self._calls.has_tool_call(content):
            content, items = self._calls.parse_non_stream(content)
        return Reading(reasoning or "", content or "", tuple(ReadCall(item.name, item.parameters) for item in items))

    def feed(self, text: str) -> None:
        """Read more of the output, in streaming."""
        self._take(*self._thinking.parse_stream_chunk(text))

    def finish(self) -> Reading:
        """End the stream and return what came of it."""
        self._take(*self._thinking.parse_stream_end())
        if self._calls is not None:
            self._add(*self._calls.parse_stream_end())
        calls: dict[int, tuple[list[str], list[str]]] = {}
        for item in self._items:
            name, arguments = calls.setdefault(item.tool_index, ([], []))
            name.append(item.name or "")
            arguments.append(item.parameters or "")
        if self._calls is not None and calls:
            last = max(calls)
            calls[last][1].append(_unstreamed(self._calls.detector))
        return Reading(
            "".join(self._reasoning),
            "".join(self._content),
            tuple(ReadCall(*map("".join, calls[index])) for index in sorted(calls)),
        )

    def _call_parser(self) -> Any:
        return _calls.FunctionCallParser(self._request.tools, _TOOL_CALL, tool_choice=self._request.tool_choice)

    def _reasoning_parser(self, *, streamed: bool) -> Any:
        return _reasoning.ReasoningParser(
            _REASONING,
            stream_reasoning=streamed,
            force_reasoning=self._forced,
            request=self._request,
            tool_call_parser_active=self._calls is not None,
        )

    def _take(self, reasoning: str | None, text: str | None) -> None:
        if reasoning:
            self._reasoning.append(reasoning)
        if self._calls is not None:
            self._add(*self._calls.parse_stream_chunk(text or ""))
        elif text:
            self._content.append(text)

    def _add(self, text: str, items: list[Any]) -> None:
        if text:
            self._content.append(text)
        self._items += items


def _unstreamed(detector: Any) -> str:
    """Return the end of the last call's arguments where it was parsed but not streamed, as chat completions do."""
    at = len(detector.prev_tool_call_arr) - 1
    if not 0 <= at < len(detector.streamed_args_for_tool):
        return ""
    arguments = detector.prev_tool_call_arr[at].get("arguments", {})
    expected = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    streamed = detector.streamed_args_for_tool[at]
    return expected[len(streamed) :] if expected.startswith(streamed) else ""
