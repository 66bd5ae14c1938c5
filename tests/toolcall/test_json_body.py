from typing import Any

import pytest

from toolcall.json_body import JsonBody, body_opening


@pytest.mark.parametrize("text", ['f{"a": 1}', "f >\n{", " \n f{"])
def test_an_object_behind_a_name_is_found(text: str) -> None:
    assert body_opening(text, 0, 100) == ("f", text.index("{"))


@pytest.mark.parametrize("text", ["f", "f>", "f<arg_key>", "f g{", "{", "f>>{", "f[{"[:2], "<f{"])
def test_nothing_else_is(text: str) -> None:
    assert body_opening(text, 0, 100) is None


def test_an_object_must_begin_within_reach() -> None:
    assert body_opening("f" + " " * 20 + "{", 0, 20) is None


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ('{"a": "<b>\\"<", "n": [1]} ', {"a": '<b>"<', "n": [1]}),
        ("{}", {}),
        ('{"a": 1, "a": 1}', None),
        ('{"a": "x\ny"}', None),
        ("[1]", None),
        ('{"a": NaN}', None),
        ('{"a": 1}{}', None),
        ("", None),
    ],
)
def test_only_an_undamaged_object_has_members(text: str, members: dict[str, Any] | None) -> None:
    for size in (1, 3, 100):
        body, at, held = JsonBody(), 0, ""
        for start in range(0, len(text) + 1, size):
            held = held[at:] + (text + "<")[start : start + size]
            at = body.scan(held, 0)
        assert held[at:] in ("<", "")
        assert body.members() == members
