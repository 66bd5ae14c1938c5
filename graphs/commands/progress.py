"""The bar of long work: on a terminal, and nothing elsewhere."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

Tell = Callable[[str, float], None]
"""Takes what runs now and how much of it is done, from 0 to 1; infinity ends it, and the next one runs."""


@contextmanager
def bar() -> Iterator[Progress]:
    """Show a bar that goes away in the end, and nothing where standard error is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        yield shown


@contextmanager
def of_runs(runs: int) -> Iterator[Tell]:
    """Show one bar for runs that follow one another."""
    with bar() as shown:
        task = shown.add_task("", total=runs)
        done = 0

        def tell(what: str, share: float) -> None:
            nonlocal done
            shown.update(task, description=what, completed=done + min(1.0, share))
            done += share == math.inf

        yield tell
