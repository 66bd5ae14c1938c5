import contextlib
import json

import pytest

from tests.conformance.cases import seeded
from tests.toolcall.generated import PATTERNS
from tests.toolcall.glm_matcher import admits, compile_grammar
from toolcall.automaton import DEAD, lengths
from toolcall.ebnf import Rules, literal
from toolcall.patterns import automaton
from toolcall.string_rules import GUARD, JSON_GUARD, Form, StringRules, is_affordable

JSON = Form("string", json=True, guard=JSON_GUARD, follow="[,]")
RAW = Form("text", json=False, guard=GUARD, follow=literal(GUARD))
OPEN = Form("string", json=True, guard="", follow="")


def grammar(form: Form, least: int = 0) -> str:
    rules = Rules()
    strings = StringRules(rules, form)
    return rules.text(rf'"\"" {strings.held(lengths(least, None) if least else None)} ","')


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ('""', True), ('"a b é 😀"', True), (r'"\n \" \\ \/ \u00e9 \ud83d\ude00"', True), ('"</arg_key>"', True),
        ('"<</y"', True), (r'"<\/arg_value>"', True), ('"a</arg_value>b"', False), ('"<</arg_value>"', False),
        ('"a\nb"', False), (r'"\x"', False), (r'"\ud83d"', False), (r'"\ude00"', False), (r'"\ud83dx"', False),
        ('"a"b"', False), ('"a', False),
    ],
)  # fmt: skip
def test_a_json_string_is_exact_and_guarded(text: str, admitted: bool) -> None:
    assert admits(compile_grammar(grammar(JSON)), text + ",") == admitted
    assert admits(compile_grammar(grammar(JSON, 1)), text + ",") == (admitted and text != '""')


def test_without_a_guard_a_string_holds_anything() -> None:
    assert admits(compile_grammar(grammar(OPEN)), '"a</arg_value>b",')


def texts(pattern: str) -> list[str]:
    """Strings that a pattern matches, strings that it nearly matches, and some of anything."""
    rng = seeded(pattern)
    held = automaton(pattern)
    assert held is not None
    found = ["", "</arg_value>", "<</arg_value", "a</b>", "/arg_value>", '"', "\\", "\n", "é😀"]
    for _ in range(60):
        text, state = "", 0
        while len(text) < 12 and state != DEAD and not (held.accepting[state] and rng.random() < 0.2):
            first, state = rng.choice(held.steps[state])
            text += chr(first) if first not in range(0xD800, 0xE000) else "x"
        found += [text, text[:-1], text + rng.choice("a<0")]
    return [*dict.fromkeys(found), *("".join(rng.choices('ab<>/0.\n"\\é', k=rng.randrange(5))) for _ in range(60))]


def affordable() -> list[str]:
    found: list[str] = []
    for pattern in PATTERNS:
        with contextlib.suppress(ValueError):
            held = automaton(pattern)
            found += [pattern] if held is not None and is_affordable(held) else []
    return found


def test_most_patterns_of_tools_are_affordable() -> None:
    left = set(PATTERNS) - set(affordable())
    assert left == {
        "a", r"\d$", r"\.py$", "^(a|b$)|c", r"^\S+$", "^.{0,3}$", "^.+$", '^"[^"]*"$', r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$",
        "^</?[a-z]*>?$", "^<[a-z/]+>$", "(?=x)x", r"\bx", r"^(?!-)", r"^(a)\1$",
    }  # fmt: skip


@pytest.mark.parametrize("pattern", affordable())
def test_a_raw_string_is_held_to_a_pattern(pattern: str) -> None:
    rules, held = Rules(), automaton(pattern)
    assert held is not None
    grammar = compile_grammar(rules.text(f"{StringRules(rules, RAW).held(held)} {literal(GUARD)}"))
    for text in texts(pattern):
        expected = held.matches(text) and GUARD not in text and not (GUARD[1:] in text and text.startswith("<"))
        assert admits(grammar, text + GUARD) == expected, text


@pytest.mark.parametrize("form", [JSON, OPEN])
@pytest.mark.parametrize("pattern", affordable())
def test_a_json_string_is_held_to_a_pattern_however_it_is_escaped(pattern: str, form: Form) -> None:
    rules, held = Rules(), automaton(pattern)
    assert held is not None
    grammar = compile_grammar(rules.text(rf'"\"" {StringRules(rules, form).held(held)} ","'))
    for text in texts(pattern):
        plain, ascii_only = json.dumps(text, ensure_ascii=False), json.dumps(text)
        html = ascii_only.replace("<", r"\u003c").replace(">", r"\u003E").replace("&", r"\u0026")
        for written in (plain, ascii_only, html, plain.replace("/", r"\/")):
            if form.guard[1:] not in written or not form.guard:
                assert admits(grammar, written + ",") == held.matches(text), written
