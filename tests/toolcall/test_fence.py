import pytest

from toolcall.fence import CodeTracker

PLACES = [
    ("plain ", False), ("a `", True), ("a `b` ", False), ("a `b\n", False), ("```\ncode\n", True),
    ("```\ncode\n```\n", False),
    ("```py\n`x`\n", True), ("`", True), ("``", True), ("```", True), ("````\n", True), ("a ```b``` ", False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "inside"), PLACES)
def test_code_is_told_from_prose_in_any_pieces(text: str, inside: bool) -> None:
    whole, pieces, asked = CodeTracker(), CodeTracker(), CodeTracker()
    whole.add(text)
    for character in text:
        pieces.add(character)
        asked.add(character)
        asked.inside()
    assert (whole.inside(), pieces.inside(), asked.inside()) == (inside, inside, inside)
    assert whole.inside() is inside
