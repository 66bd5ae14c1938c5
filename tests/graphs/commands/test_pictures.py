import sys
from pathlib import Path

import pytest

from graphs.commands import pictures
from graphs.errors import Refusal


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("a.pdf", "--plot a.pdf: name a file that ends in .png or .svg"),
        ("a", "--plot a: name a file that ends in .png or .svg"),
        ("nowhere/a.png", "--plot nowhere/a.png: there is no folder nowhere"),
    ],
)
def test_a_place_where_nothing_can_be_drawn_is_refused(path: str, says: str) -> None:
    with pytest.raises(Refusal, match=says):
        pictures.check(Path(path))


def test_without_matplotlib_a_picture_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    # As Python has it for a module that must not be imported.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Refusal, match=r"^--plot a\.png: pictures need matplotlib: pip install matplotlib$"):
        pictures.check(Path("a.png"))
