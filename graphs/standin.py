"""The stand-in model of `configs/local.yaml`: `model-path: stand-in` names a folder that is made at the start."""

import subprocess
import sys
from pathlib import Path

from graphs.errors import Refusal

NAME = "stand-in"


def command(folder: Path) -> tuple[str, ...]:
    """The command that makes the stand-in's tokenizer, chat template and configuration in this folder."""
    return (sys.executable, "-m", "components.local.model", str(folder))


def make(folder: Path) -> None:
    """Make the folder.

    Raises:
        Refusal: It could not be made.
    """
    # In a process of its own: training a tokenizer leaves threads behind, and those would get the supervisor's signals.
    made = subprocess.run(command(folder), capture_output=True, text=True, check=False)  # noqa: S603 - our own program.
    if made.returncode:
        why = made.stderr.strip().rpartition("\n")[2] or f"exit code {made.returncode}"
        raise Refusal(f"the stand-in model could not be made in {folder}: {why}")
