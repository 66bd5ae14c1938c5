"""What the flags of all benchmarks share."""

import argparse
from typing import Final

INTERRUPTED: Final = 130
"""The exit code of a run that Ctrl-C ended, as of any command that SIGINT did."""


def positive(text: str) -> int:
    """Read a positive whole number.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return value
