"""Stop strings, found also when cut over several tokens."""

from collections.abc import Sequence


class StopStrings:
    """Passes text on until one of the stop strings appears.

    Text that could be the beginning of a stop string is held back until it is decided. The stop string that is complete
    first wins, as in vLLM, so that it never matters in which pieces the text comes; of several, the longest.

    Args:
        stops: The stop strings; empty ones are ignored.
        include: Keep the stop string itself in the text (vLLM's ``include_stop_str_in_output``).
    """

    def __init__(self, stops: Sequence[str], *, include: bool = False) -> None:
        self._stops = sorted({stop for stop in stops if stop}, key=len, reverse=True)
        self._include = include
        self._held = ""
        self.matched: str | None = None

    def __bool__(self) -> bool:
        """Tell whether there is any stop string to look for."""
        return bool(self._stops)

    def feed(self, text: str) -> str:
        """Return the text that is certain not to belong to a stop string; nothing after a match."""
        if not self._stops:
            return text
        if self.matched is not None:
            return ""
        text = self._held + text
        if (found := self._first(text)) is not None:
            at, self.matched = found
            self._held = ""
            return text[: at + len(self.matched)] if self._include else text[:at]
        keep = self._possible_start(text)
        self._held = text[keep:]
        return text[:keep]

    def finish(self) -> str:
        """Return what was held back and turned out to be text."""
        held, self._held = self._held, ""
        return held

    def _first(self, text: str) -> tuple[int, str] | None:
        found = [(at, stop) for stop in self._stops if (at := text.find(stop)) >= 0]
        return min(found, key=lambda match: (match[0] + len(match[1]), match[0]), default=None)

    def _possible_start(self, text: str) -> int:
        for at in range(max(0, len(text) - len(self._stops[0]) + 1), len(text)):
            if any(stop.startswith(text[at:]) for stop in self._stops):
                return at
        return len(text)
