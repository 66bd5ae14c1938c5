"""What all benchmarks share as commands."""

import argparse
import sys
from collections.abc import Callable
from typing import Final, NoReturn

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


def run(name: str, measure: Callable[[], bool | None], *refusals: type[Exception]) -> NoReturn:
    """Measure and exit: with 1 where a promise is missed, or with one line on what is refused.

    Args:
        name: The benchmark's folder.
        measure: Measures and prints; False says that a promise is missed.
        refusals: Exceptions whose text tells a person what to mend.
    """
    try:
        met = measure()
    except refusals as error:
        sys.exit(f"benchmarks.{name}: {error}")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(1 if met is False else 0)
