"""What the user sees: the lines of each process and the supervisor's own events, for a person or as JSON lines."""

from collections.abc import Collection
from typing import Any

import msgspec

from graphs.process import Plan, ProcessSpec
from graphs.supervisor import banner, record
from graphs.supervisor.output import Output

# Bright enough on dark and light ground; red is left to errors.
_COLOURS = (36, 32, 33, 35, 34, 96, 92, 93, 95, 94)
_SELF = "dynamo"


class Log:
    """Renders to an `Output`.

    On a terminal a line is `Decode-2 │ text`, coloured by process. In a pipe it is one JSON object with the keys time,
    service, replica, pid, level and message; what the supervisor says has an `event` as well, and the service `dynamo`
    where it is not about one process.
    """

    def __init__(self, plan: Plan, output: Output, *, terminal: bool, colour: bool) -> None:
        self._output = output
        self._terminal = terminal
        self._colour = colour
        names = [spec.name for spec in plan.processes]
        self._width = max(map(len, [*names, _SELF]))
        self._colours = {name: _COLOURS[at % len(_COLOURS)] for at, name in enumerate(names)}
        self._lost = 0

    def line(self, spec: ProcessSpec, pid: int, text: str) -> None:
        """One line that a process wrote."""
        if self._terminal:
            self._write(self._prefixed(spec.name, text if self._colour else record.plain(text)))
            return
        read = record.parse(text)
        self._write(_json(read.time, spec, pid, read.level, read.message))

    def event(
        self,
        event: str,
        message: str,
        *,
        spec: ProcessSpec | None = None,
        pid: int | None = None,
        level: str = "info",
        **more: Any,
    ) -> None:
        """One thing the supervisor did or saw; `more` are further JSON keys, and people see `last_lines` of them."""
        self._write(self._render(event, message, spec=spec, pid=pid, level=level, **more))

    def died(self, spec: ProcessSpec, pid: int, how: str, last_lines: Collection[str]) -> None:
        """A process ended without being told to."""
        message = f"{spec.name} {how}; {'its last lines:' if last_lines else 'it wrote nothing'}"
        self.event("died", message, spec=spec, pid=pid, level="error", last_lines=list(last_lines))

    def ready(self, plan: Plan, after_s: float) -> None:
        """The banner."""
        message = f"{plan.graph} is ready after {after_s:.1f} s"
        if self._terminal:
            self._write(banner.render(plan, message, colour=self._colour))
        else:
            self.event("ready", message, graph=plan.graph, url=plan.url, model=plan.model, seconds=round(after_s, 3))

    def close(self) -> None:
        """Write what waits."""
        self._output.close()

    def _write(self, text: str) -> None:
        if self._lost:
            message = f"{self._lost} lines were lost: what reads this output is too slow"
            if self._put(self._render("lost", message, level="warning", lines=self._lost)):
                self._lost = 0
        if not self._put(text):
            self._lost += 1

    def _put(self, text: str) -> bool:
        return self._output.write(text.encode(errors="replace") + b"\n")

    def _render(
        self,
        event: str,
        message: str,
        *,
        spec: ProcessSpec | None = None,
        pid: int | None = None,
        level: str,
        **more: Any,
    ) -> str:
        if not self._terminal:
            return _json(record.now(), spec, pid, level, message, event=event, **more)
        lines = (message, *(f"    {line}" for line in more.get("last_lines", ())))
        return "\n".join(self._prefixed(_SELF, self._tinted(line, level)) for line in lines)

    def _prefixed(self, name: str, text: str) -> str:
        prefix = f"{name:<{self._width}} │"
        if self._colour:
            prefix = f"\x1b[{self._colours.get(name, 1)}m{prefix}\x1b[0m"
        return f"{prefix} {text}"

    def _tinted(self, text: str, level: str) -> str:
        return f"\x1b[31m{text}\x1b[0m" if self._colour and level == "error" else text


def _json(time: str, spec: ProcessSpec | None, pid: int | None, level: str, message: str, **more: Any) -> str:
    fields = {
        "time": time,
        "service": spec.service if spec else _SELF,
        "replica": spec.replica if spec else None,
        "pid": pid,
        "level": level,
        "message": message,
        **more,
    }
    return msgspec.json.encode(fields).decode()
