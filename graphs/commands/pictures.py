"""Pictures, for whoever asks for one: matplotlib is imported then, and takes a second."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphs.errors import Refusal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SUFFIXES: Final = (".png", ".svg")

COLORS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's, told apart by everybody; yellow is left out, it is too pale for a line."""

_STYLE: Final[dict[Any, Any]] = {  # Of matplotlib's own names, which are a type there.
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "axes.axisbelow": True,
    "font.size": 9,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "svg.fonttype": "none",
    # Else two pictures of the same figures differ.
    "svg.hashsalt": "dynamo",
}


def check(path: Path) -> None:
    """See that a picture can be drawn there, before anything takes time.

    Raises:
        Refusal: It cannot.
    """
    if path.suffix not in _SUFFIXES:
        raise Refusal(f"--plot {path}: name a file that ends in {' or '.join(_SUFFIXES)}")
    if not path.parent.is_dir():
        raise Refusal(f"--plot {path}: there is no folder {path.parent}")
    if find_spec("matplotlib") is None:
        raise Refusal(f"--plot {path}: pictures need matplotlib: pip install matplotlib")


def save(path: Path, picture: "Callable[[], Figure]") -> None:
    """Draw a picture in the common style and write it as the file's suffix says; equal figures make equal files.

    Raises:
        Refusal: The file cannot be written.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - see above.

    with rc_context(_STYLE):
        try:
            picture().savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})
        except OSError as error:
            raise Refusal(f"--plot {path}: {error.strerror}: name a file that can be written") from error
