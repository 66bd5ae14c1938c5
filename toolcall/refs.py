"""JSON pointers into a client's schema."""

from typing import Any, Final
from urllib.parse import quote, unquote

_MISSING: Final = object()


def escape(name: str) -> str:
    """One step of a JSON pointer (RFC 6901), written for use in a `$ref`."""
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="~")


def quoted(schema: Any) -> Any:
    """A copy of a schema in which every local `$ref` is a URI; generators write `#/$defs/List<Item>` as it is."""
    if isinstance(schema, list):
        return [quoted(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: "#" + quote(unquote(item[1:]), safe="/~$")
        if name == "$ref" and isinstance(item, str) and item.startswith("#")
        else quoted(item)
        for name, item in schema.items()
    }


def local_pointer(root: dict[str, Any], ref: str) -> str | None:
    """The pointer that a `$ref` names inside its own document, or None when it names something elsewhere."""
    identity = root.get("$id")
    if isinstance(identity, str) and identity and ref.startswith(identity.removesuffix("#")):
        ref = ref[len(identity.removesuffix("#")) :] or "#"
    if ref == "#" or ref.startswith("#/"):
        return ref[1:]
    return None


def resolve(root: Any, pointer: str) -> Any:
    """The value at a JSON pointer.

    Raises:
        KeyError: Nothing stands there.
    """
    value = root
    for step in pointer.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        found = _MISSING
        if isinstance(value, dict):
            found = value.get(name, _MISSING)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            found = value[int(name)]
        if found is _MISSING:
            raise KeyError(pointer)
        value = found
    return value


def find_dangling(root: dict[str, Any]) -> list[str | int] | None:
    """Where a `$ref` stands that names nothing in this document; None when all resolve."""
    waiting: list[tuple[Any, list[str | int]]] = [(root, [])]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, list):
            waiting.extend((item, [*path, index]) for index, item in enumerate(value))
            continue
        if not isinstance(value, dict):
            continue
        ref = value.get("$ref")
        if isinstance(ref, str) and not _resolves(root, ref):
            return [*path, "$ref"]
        waiting.extend((item, [*path, name]) for name, item in value.items())
    return None


def _resolves(root: dict[str, Any], ref: str) -> bool:
    pointer = local_pointer(root, ref)
    if pointer is None:
        return False
    try:
        resolve(root, pointer)
    except KeyError:
        return False
    return True
