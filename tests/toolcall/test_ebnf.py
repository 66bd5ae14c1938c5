import pytest

from tests.toolcall.glm_matcher import admits, compile_grammar
from toolcall.ebnf import Rules, any_of, free_text, literal, other_than


@pytest.mark.parametrize(
    "text", ['a"b\\c', "new\nline\ttab\r", "é北😀", "\x00\x1f\x7f", "[]-^{}()|*+?", "\u2028", "<a>"]
)
def test_a_literal_matches_itself_and_nothing_else(text: str) -> None:
    grammar = compile_grammar(f"root ::= {literal(text)}")
    assert admits(grammar, text)
    assert not admits(grammar, text[:-1])
    assert not admits(grammar, text + "x")


@pytest.mark.parametrize("characters", ['\\]^-"[', "\n\x00\x1f", "é", "aé北😀-]", "\U0010ffff", ""])
def test_a_class_holds_everything_else(characters: str) -> None:
    grammar = compile_grammar(f"root ::= {other_than(characters)}")
    assert not any(admits(grammar, each) for each in characters)
    assert all(admits(grammar, each) for each in "bz0~ \x7fèê丁😁" if each not in characters)


def test_free_text_holds_anything_but_what_is_excluded() -> None:
    grammar = compile_grammar(f'root ::= "[" text "]"\ntext ::= {free_text(["]", "</x>"], literal("]"))}')
    assert all(admits(grammar, f"[{text}]") for text in ("", "a < b </ </x", "é\n\x01", "<<"))
    assert not any(admits(grammar, f"[{text}]") for text in ("</x>", "a]", "<</x>"))


def test_rules_with_one_body_are_one_rule() -> None:
    rules = Rules()
    assert rules.share("a", '"x"') == rules.share("b", '"x"')
    assert rules.share("a", '"y"') != rules.share("a", '"x"')
    assert rules.text("r").startswith("root ::= r\n")


def test_alternatives_are_named_once() -> None:
    assert any_of(["a", "a"]) == "a"
    assert any_of(["a", "b"]) == "(a | b)"
