"""Pictures of a replay."""

from pathlib import Path

from graphs.commands import pictures
from graphs.commands.replay.results import Results


def draw(path: Path, results: Results) -> None:
    """Draw what came out.

    Raises:
        Refusal: The file cannot be written.
    """
    from graphs.commands.replay.pictures import picture  # noqa: PLC0415 - it imports matplotlib.

    pictures.save(path, lambda: picture(results))
