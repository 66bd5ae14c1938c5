import pytest

from toolcall.refs import escape, find_dangling, local_pointer, quoted, resolve

ROOT = {"$defs": {"a/b": {"x": 1}, "c~d": {"x": 2}, "e%f": {"x": 3}, "é <g>": {"x": 5}}, "list": [{"y": 4}]}


@pytest.mark.parametrize(("name", "value"), [("a/b", 1), ("c~d", 2), ("e%f", 3), ("é <g>", 5)])
def test_an_escaped_name_is_found_again(name: str, value: int) -> None:
    assert resolve(ROOT, f"/$defs/{escape(name)}/x") == value


def test_the_empty_pointer_is_the_document() -> None:
    assert resolve(ROOT, "") is ROOT
    assert resolve(ROOT, "/list/0/y") == 4


@pytest.mark.parametrize("pointer", ["/nowhere", "/list/1", "/list/y", "/$defs/a~1b/x/z"])
def test_a_pointer_to_nothing_raises(pointer: str) -> None:
    with pytest.raises(KeyError):
        resolve(ROOT, pointer)


def test_a_reference_by_the_documents_own_id_is_local() -> None:
    root = {"$id": "https://e.test/s#"}
    assert local_pointer(root, "https://e.test/s#/$defs/a") == "/$defs/a"
    assert local_pointer(root, "#") == ""
    assert local_pointer({}, "https://e.test/s#/$defs/a") is None


def test_the_first_dangling_reference_is_named() -> None:
    assert find_dangling({"a": [{"$ref": "#/nowhere"}], "b": {"$ref": "#/a"}}) == ["a", 0, "$ref"]
    assert find_dangling({"a": {"$ref": "#"}}) is None


def test_references_become_uris() -> None:
    assert quoted([{"$ref": "#/$defs/A<B c>"}]) == [{"$ref": "#/$defs/A%3CB%20c%3E"}]
    assert quoted({"$ref": "#/$defs/A%20b"}) == {"$ref": "#/$defs/A%20b"}
