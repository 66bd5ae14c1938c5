import pytest

from tests.toolcall.glm_matcher import admits, compile_grammar
from toolcall.ebnf import Rules
from toolcall.keys import other_key


def grammar(names: list[str]) -> str:
    rules = Rules()
    rules.define("free_space", '" " free_space | [^ <] free')
    rules.define("free", '"" | " " free_space | [^ <] free')
    return rules.text(other_key(rules, names, "free", stop=" <", end='""', follow="", spaced=True))


@pytest.mark.parametrize("key", ["b", "path2", "pat", "paths", "p", "a b c", "ab", "a  b", "é", "x[1]", "x"])
def test_any_other_key_is_admitted(key: str) -> None:
    assert admits(compile_grammar(grammar(["path", "a b", "ä", "x[0]"])), key)


@pytest.mark.parametrize("key", ["path", "a b", "ä", "x[0]", "", " ", "path ", " path", "b ", "a b ", "a<b"])
def test_declared_keys_and_their_lookalikes_are_refused(key: str) -> None:
    assert not admits(compile_grammar(grammar(["path", "a b", "ä", "x[0]"])), key)
