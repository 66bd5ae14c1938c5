import pytest

from toolcall import charset as c
from toolcall.expression import Characters, Choice, Edge, Repeat, Sequence, UnreadableError, read

A, B = Characters(c.of("a")), Characters(c.of("b"))


@pytest.mark.parametrize(
    ("pattern", "expression"),
    [
        ("a", A),
        ("", Sequence(())),
        ("ab", Sequence((A, B))),
        ("a|b|", Choice((A, B, Sequence(())))),
        ("^a$", Sequence((Edge(end=False), A, Edge(end=True)))),
        ("a*", Repeat(A, 0, None)),
        ("a+?", Repeat(A, 1, None)),
        ("a??", Repeat(A, 0, 1)),
        ("a{2}", Repeat(A, 2, 2)),
        ("a{2,}", Repeat(A, 2, None)),
        ("a{2,3}?", Repeat(A, 2, 3)),
        ("(a)", A),
        ("(?:ab)", Sequence((A, B))),
        ("(?<name>a)", A),
        (r"\x61", A),
        (r"\u0061", A),
        ("[ab]", Characters(c.of("ab"))),
        ("[^a]", Characters(c.complement(c.of("a")))),
        (r"[a\-]", Characters(c.of("a-"))),
        ("[-a]", Characters(c.of("-a"))),
        ("[a-]", Characters(c.of("-a"))),
        (r"[\w-]", Characters(c.charset([*c.of("-_"), *c.of("0123456789"), (65, 90), (97, 122)]))),
        (r"[\b]", Characters(c.of("\b"))),
        ("[]", Characters(())),
        ("[^]", Characters(c.ALL)),
        (r"\/\.", Sequence((Characters(c.of("/")), Characters(c.of("."))))),
        (r"\t\v", Sequence((Characters(c.of("\t")), Characters(c.of("\v"))))),
    ],
)
def test_a_pattern_is_read(pattern: str, expression: object) -> None:
    assert read(pattern) == expression


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)", "a(?!b)", "(?<=a)b", r"\bx", r"(a)\1", r"(?<n>a)\k<n>", r"\p{L}", r"\u{61}", r"\ud83d", r"\cA", r"\a",
        r"\0", "(?i)a", "a**", "a++", "*a", "a{", "a{x}", "a{3,2}", "a]", "^*", "[a", "[z-a]", r"[\d-x]", "[[a]]",
        "[a&&b]", "(a", "a)", "\\",
    ],
)  # fmt: skip
def test_what_is_not_read_is_told(pattern: str) -> None:
    with pytest.raises(UnreadableError):
        read(pattern)
