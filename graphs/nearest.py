"""The name that somebody probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches

# Beyond this many, a list of valid names is longer than a line.
_LISTED = 12


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """Say which valid name is nearest to `name`, and list the valid names if they are few and none is near.

    Names are compared without regard to case or to `_` in place of `-`.
    """
    plain = {_plain(known): known for known in valid}
    if near := get_close_matches(_plain(name), plain, n=1, cutoff=0.6):
        return f"did you mean {plain[near[0]]!r}?"
    if len(plain) <= _LISTED:
        return "valid: " + (", ".join(sorted(plain.values())) or "none")
    nearest = get_close_matches(_plain(name), plain, n=1, cutoff=0.0)
    return f"the nearest is {plain[nearest[0]]!r}, `dynamo config schema` has them all"


def _plain(name: str) -> str:
    return name.replace("_", "-").lower()
