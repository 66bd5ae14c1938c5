"""Pictures of a replay, for whoever asks for one: matplotlib is imported then, and takes a second."""

from importlib.util import find_spec
from pathlib import Path

from graphs.commands.replay.results import Results
from graphs.errors import Refusal

_SUFFIXES = (".png", ".svg")


def check(path: Path) -> None:
    """See that a picture can be drawn there, before anything is replayed.

    Raises:
        Refusal: It cannot.
    """
    if path.suffix not in _SUFFIXES:
        raise Refusal(f"--plot {path}: name a file that ends in {' or '.join(_SUFFIXES)}")
    if not path.parent.is_dir():
        raise Refusal(f"--plot {path}: there is no folder {path.parent}")
    if find_spec("matplotlib") is None:
        raise Refusal(f"--plot {path}: pictures need matplotlib: pip install matplotlib")


def draw(path: Path, results: Results) -> None:
    """Draw what came out.

    Raises:
        Refusal: The file cannot be written.
    """
    from graphs.commands.replay.pictures import picture, save  # noqa: PLC0415 - see above.

    try:
        save(picture(results), path)
    except OSError as error:
        raise Refusal(f"--plot {path}: {error.strerror}: name a file that can be written") from error
