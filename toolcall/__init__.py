"""Tool calls of GLM models: what the model may emit, and what it meant.

`parse_tools` reads a request's tools, `build_tag` turns them into an xgrammar structural tag that holds the model to
them, `Parser` reads the output back, streamed or whole, and `validate` checks what the tag had to leave open.
"""

from toolcall.check import validate
from toolcall.errors import SchemaError
from toolcall.parser import Parser, parse
from toolcall.render import render_call
from toolcall.status import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    CallStatus,
    ContentDelta,
    Event,
    Message,
    ReasoningDelta,
    ToolCall,
)
from toolcall.tag import build_response_tag, build_tag, is_shallow
from toolcall.tools import Tool, ToolChoice, ToolSet, parse_tools
from toolcall.validator import Problem

__all__ = [
    "ArgumentsDelta",
    "CallEnd",
    "CallStart",
    "CallStatus",
    "ContentDelta",
    "Event",
    "Message",
    "Parser",
    "Problem",
    "ReasoningDelta",
    "SchemaError",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolSet",
    "build_response_tag",
    "build_tag",
    "is_shallow",
    "parse",
    "parse_tools",
    "render_call",
    "validate",
]
