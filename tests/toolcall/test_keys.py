import pytest

from tests.toolcall.glm_matcher import admits, compile_grammar
from toolcall.ebnf import Rules
from toolcall.keys import other_key
from toolcall.string_rules import Form, StringRules


def grammar(names: list[str]) -> str:
    rules = Rules()
    rules.define("free_space", '" " free_space | [^ <] free')
    rules.define("free", '"" | " " free_space | [^ <] free')
    return rules.text(other_key(rules, names, lambda _: "free", guard="", stop=" <", end='""', follow="", spaced=True))


@pytest.mark.parametrize("key", ["b", "path2", "pat", "paths", "p", "a b c", "ab", "a  b", "é", "x[1]", "x"])
def test_any_other_key_is_admitted(key: str) -> None:
    assert admits(compile_grammar(grammar(["path", "a b", "ä", "x[0]"])), key)


@pytest.mark.parametrize("key", ["path", "a b", "ä", "x[0]", "", " ", "path ", " path", "b ", "a b ", "a<b"])
def test_declared_keys_and_their_lookalikes_are_refused(key: str) -> None:
    assert not admits(compile_grammar(grammar(["path", "a b", "ä", "x[0]"])), key)


@pytest.mark.parametrize(
    ("names", "key", "admitted"),
    [
        ([], "</x>", False), ([], "a</x>", False), ([], "</y>", True), (["x"], "x</x>", False), (["x"], "x</y>", True),
        (["x<"], "x</x>", False), (["x<"], "x<<", True), (["x</"], "x</x>", False), (["x</"], "x</y>", True),
        (["x<"], "x<", False), (["</"], "<</x>", False), (["a</x>"], "a</x>b", False), (["a</x>"], "a</y", True),
    ],
)  # fmt: skip
def test_a_guarded_key_never_holds_the_guard(names: list[str], key: str, admitted: bool) -> None:
    rules = Rules()
    strings = StringRules(rules, Form("key", json=False, guard="</x>", follow='"!"'))
    key_rule = other_key(rules, names, strings.any, guard="</x>", stop="!", end='""', follow='"!"', spaced=False)
    assert admits(compile_grammar(rules.text(f'{key_rule} "!"')), key + "!") == admitted
