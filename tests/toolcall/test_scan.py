import pytest

from toolcall import markers
from toolcall.scan import Found, after_value, cut_marker, is_name, marker_at, nested_call, skip_json, skip_space

KEYS = ("path", "line")


@pytest.mark.parametrize("marker", markers.ALL)
def test_a_marker_is_seen_once_it_is_whole(marker: str) -> None:
    assert marker_at(f"a{marker}b", 1) == marker
    for length in range(1, len(marker)):
        assert marker_at(f"a{marker[:length]}", 1) == ""
        assert cut_marker(f"a{marker[:length]}", 0) == 1
        assert marker_at(f"a{marker[:length]} ", 1) is None
    assert cut_marker(f"a{marker}", 0) == 1 + len(marker)


def test_other_angle_brackets_are_no_markers() -> None:
    assert marker_at("<b>", 0) is None
    assert cut_marker("a < b", 0) == 5


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("</tool_call>", Found.END),
        (" \n</tool_call>x", Found.END),
        ("<arg_key>k</arg_key>", Found.KEY),
        ("\n<arg_key>k<arg_value>", Found.KEY),
        ("line</arg_key>", Found.KEY),
        ("other</arg_key>", Found.OTHER),
        (" in the docs", Found.OTHER),
        ("<arg_key> in docs", Found.UNKNOWN),
        ("<arg_key></arg_key>", Found.OTHER),
        ("<arg_key>a<b", Found.OTHER),
        ("</arg_value>", Found.OTHER),
        ("<tool_call>", Found.OTHER),
        ("", Found.UNKNOWN),
        ("\n", Found.UNKNOWN),
        ("</tool_c", Found.UNKNOWN),
        ("li", Found.UNKNOWN),
        (" " * 100, Found.OTHER),
    ],
)
def test_only_structure_ends_a_value(text: str, found: Found) -> None:
    assert after_value(text, 0, KEYS, final=False) is found
    assert after_value(text, 0, KEYS, final=True) is (Found.OTHER if found is Found.UNKNOWN else found)


OPENING = "<tool_call>f\n<arg_key>k</arg_key>\n<arg_value>"


def test_a_nested_call_is_known_once_its_opening_is_whole() -> None:
    assert nested_call(OPENING + "v", 0, final=False) == len(OPENING)
    for length in range(len("<tool_call>"), len(OPENING)):
        assert nested_call(OPENING[:length], 0, final=False) is None
        assert nested_call(OPENING[:length], 0, final=True) == -1


@pytest.mark.parametrize(
    "text", ["<tool_call> token opens", "<tool_call>f</tool_call>", "<tool_call><arg_key>", "<tool_call>f<b"]
)
def test_other_text_behind_a_call_marker_is_no_nested_call(text: str) -> None:
    assert nested_call(text + "      ", 0, final=False) == -1


@pytest.mark.parametrize(
    ("text", "inside", "stop", "still"),
    [
        ('{"a": "x < y"}</', False, 14, False),
        ('{"a": "x', False, 8, True),
        ('y"}<', True, 3, False),
        ('a\\"b"<', True, 5, False),
        ("a\\", True, 1, True),
        ("", False, 0, False),
        ('"<"<', False, 3, False),
    ],
)
def test_json_is_crossed_up_to_a_bracket_outside_its_strings(text: str, inside: bool, stop: int, still: bool) -> None:
    assert skip_json(text, 0, inside=inside) == (stop, still)


def test_space_is_skipped_within_reach() -> None:
    assert skip_space(" \n\ta", 0) == 3
    assert skip_space(" " * 1000, 0) < 1000


def test_a_name_has_no_markup_and_no_spaces() -> None:
    assert all(map(is_name, ("get_x", "fs.read-all", "mcp__a__b", "A1")))
    assert not any(map(is_name, ("", "a b", "1a", "a<b", "`a`", "a" * 300)))
