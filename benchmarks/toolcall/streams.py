"""What the parsers read: answers of a coding agent's model, each of one kind, and a turn that mixes them."""

from collections.abc import Iterator
from typing import Any, Final

from toolcall import render_call
from toolcall.conformance import Case

_CODE_LENGTH: Final = 20_000
_PROSE_LENGTH: Final = 20_000
_ROUNDS: Final = 20


def _tool(name: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


_STRING: Final = {"type": "string"}
_INTEGER: Final = {"type": "integer"}
_BOOLEAN: Final = {"type": "boolean"}

TOOLS: Final = [
    _tool("read_file", {"path": _STRING, "offset": {"type": "integer"}, "limit": {"type": "integer"}}, ["path"]),
    _tool("edit_file", {"path": _STRING, "old_text": _STRING, "new_text": _STRING}, ["path", "old_text", "new_text"]),
    _tool("run", {"command": _STRING, "timeout": {"type": "number"}, "background": {"type": "boolean"}}, ["command"]),
    _tool(
        "search",
        {
            "query": _STRING,
            "path": _STRING,
            **dict.fromkeys(("glob", "type", "sort"), _STRING),
            **dict.fromkeys(("before", "after", "limit", "offset"), _INTEGER),
            **dict.fromkeys(("multiline", "hidden", "ignore_case"), _BOOLEAN),
        },
        ["query", "path"],
    ),
    _tool(
        "write_todos",
        {
            "todos": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "integer"},
                        "content": _STRING,
                        "status": {"enum": ["pending", "in_progress", "completed"]},
                    },
                    "required": ["id", "content", "status"],
                },
            }
        },
        ["todos"],
    ),
]

_SENTENCE: Final = "The cache is keyed by the canonical tool set, so a second request with these tools costs nothing; "
_FUNCTION: Final = '''
def update_{index}(state: dict[str, int], name: str, limit: int = {index}) -> bool:
    """Add one to a counter; says whether it is below its limit."""
    count = state.get(name, 0) + 1
    state[name] = count
    if count < limit and "{index}" not in name:
        print(f"<{{name}}>: {{count}} of {{limit}}\\n")
    return count < limit
'''
_SEARCH: Final = {
    "query": "def update_",
    "path": "toolcall/",
    "glob": "*.py",
    "type": "py",
    "before": 2,
    "after": 3,
    "limit": 50,
    "offset": 0,
    "multiline": False,
    "hidden": True,
    "ignore_case": False,
    "sort": "path",
}


def _prose(length: int) -> str:
    return (_SENTENCE * (length // len(_SENTENCE) + 1))[:length]


def _code(length: int) -> str:
    functions = (_FUNCTION.format(index=index) for index in range(length // len(_FUNCTION) + 1))
    return "".join(functions)[:length]


def _todos(count: int) -> dict[str, Any]:
    item = 'Rename "update_{index}" and its callers,\nthen run the tests'
    statuses = ("pending", "in_progress", "completed")
    return {
        "todos": [
            {"id": index, "content": item.format(index=index), "status": statuses[index % 3]} for index in range(count)
        ]
    }


def _edit(length: int) -> str:
    code = _code(length)
    return render_call("edit_file", {"path": "toolcall/parser.py", "old_text": code[:200], "new_text": code})


def _outputs() -> Iterator[tuple[str, str]]:
    yield "content", f"</think>{_prose(_PROSE_LENGTH)}"
    yield "reasoning", f"{_prose(_PROSE_LENGTH)}</think>Done."
    yield "a long string argument", f"</think>{_edit(_CODE_LENGTH)}"
    yield "many short arguments", "</think>" + render_call("search", _SEARCH) * _ROUNDS
    yield "a JSON argument", "</think>" + render_call("write_todos", _todos(100))
    yield (
        "many parallel calls",
        "</think>" + "".join(render_call("read_file", {"path": f"toolcall/module_{index}.py"}) for index in range(100)),
    )
    yield (
        "a mixed turn",
        "".join(
            (
                _prose(1500),
                "</think>",
                _prose(300),
                render_call("read_file", {"path": "toolcall/parser.py", "offset": 10, "limit": 80}),
                _edit(3000),
                render_call("run", {"command": "python -m pytest -q tests/toolcall", "timeout": 90.5}),
                render_call("write_todos", _todos(5)),
            )
        ),
    )


STREAMS: Final = {name: Case(id=name, tools=TOOLS, thinking=True, output=output) for name, output in _outputs()}
"""The streams by name."""
