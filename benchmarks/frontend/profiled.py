"""Our frontend with a clock around its stages.

Usage: ``python -m benchmarks.frontend.profiled FILE``, followed by flags of ``components.frontend``. On SIGUSR1 it
appends to FILE, a line of JSON, how often each stage has run and how long, without the stages inside it. It is the
wall's clock, for the thread's own costs more than a stage: on a busy machine, waiting counts too. A clocked call costs
about half a microsecond more.
"""

import functools
import importlib
import signal
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

GENERATE = "hand over to Rust"
STAGES = {
    "read the body": "components.frontend.engine:read_request",
    "read the tools": "components.frontend.engine:parse_tools",
    "history": "components.frontend.engine:template_messages",
    "render": "components.frontend.template:ChatTemplate.render",
    "encode": "components.frontend.tokenization:PromptTokenizer.encode",
    "tag": "components.frontend.engine:guided_decoding",
    "new reply": "components.frontend.reply:Reply.__init__",
    "rest of preparing": "components.frontend.engine:ChatEngine._prepare",
    "place": "router:Router.place",
    GENERATE: "components.frontend.engine:ChatEngine.__init__",
    "take outputs": "components.frontend.outputs:Outputs._arrived",
    "detokenize": "components.frontend.detokenization:Detokenizer.feed",
    "stop strings": "components.frontend.stop:StopStrings.feed",
    "parser": "components.frontend.reply:Parser.feed",
    "reply's own": "components.frontend.reply:Reply.feed",
    "build chunks": "components.frontend.reply:Reply.take",
}


class Stage(msgspec.Struct):
    """Calls of a stage, and ns spent in it alone."""

    calls: int = 0
    ns: int = 0


class _Inner(threading.local):
    """Ns spent in clocked stages inside the one that runs, on this thread."""

    ns = 0


class Clock:
    """Times stages, exclusively."""

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}
        self._inner = _Inner()

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its calls timed under a name."""
        stage = self.stages.setdefault(name, Stage())
        inner = self._inner
        now = time.perf_counter_ns

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            before, inner.ns = inner.ns, 0
            begun = now()
            try:
                return function(*args, **kwargs)
            finally:
                spent = now() - begun
                stage.calls += 1
                stage.ns += spent - inner.ns
                inner.ns = before + spent

        return timed

    def around_generate(self, init: Callable[..., None]) -> Callable[..., None]:
        """Return ``ChatEngine.__init__`` with a routed engine whose ``generate`` is timed, up to its first wait."""

        def clocked(engine: Any, model: Any, routed: Any, *more: Any) -> None:
            generate = self.around(GENERATE, routed.generate)
            init(engine, model, types.SimpleNamespace(generate=generate), *more)

        return clocked

    def install(self, name: str, place: str) -> None:
        """Put the clock around ``module:attribute.attribute``."""
        module, _, path = place.partition(":")
        *owners, attribute = path.split(".")
        owner: Any = importlib.import_module(module)
        for part in owners:
            owner = getattr(owner, part)
        function = getattr(owner, attribute)
        timed = self.around_generate(function) if name == GENERATE else self.around(name, function)
        setattr(owner, attribute, timed)


def main() -> None:
    """Run our frontend, clocked."""
    file = Path(sys.argv.pop(1))
    clock = Clock()
    for name, place in STAGES.items():
        clock.install(name, place)

    def report(_signum: int, _frame: Any) -> None:
        with file.open("ab") as out:
            out.write(msgspec.json.encode(clock.stages) + b"\n")

    signal.signal(signal.SIGUSR1, report)
    importlib.import_module("components.frontend.__main__").main()


if __name__ == "__main__":
    main()
