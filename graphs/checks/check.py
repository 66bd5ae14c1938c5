"""One thing that was looked at."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A thing that was looked at before the start.

    Attributes:
        name: What was looked at.
        found: What was seen.
        mend: What to do about it, or empty if all is well.
    """

    name: str
    found: str
    mend: str = ""

    @property
    def ok(self) -> bool:
        """Whether the graph may start as far as this goes."""
        return not self.mend

    def __str__(self) -> str:
        return f"{self.name}: {self.found}" + (f": {self.mend}" if self.mend else "")
