"""The ratio, beside the ladders, as text, JSON or picture."""

import json
import sys

from graphs.commands.plan.ask import Ask
from graphs.commands.plan.document import document
from graphs.commands.plan.engines import Planned
from graphs.commands.plan.ratio import ratio
from graphs.commands.plan.ratio_text import document as ratio_document
from graphs.commands.plan.ratio_text import text
from graphs.commands.plan.text import misfit


def report(ask: Ask, engines: list[Planned], session_tokens: int, *, as_json: bool) -> None:
    """Balance the sides and write what came out.

    Raises:
        Refusal: It cannot be done.
    """
    found = ratio(ask, engines)
    if ask.plot is not None:
        from graphs.commands.plan.ratio_pictures import draw  # noqa: PLC0415 - matplotlib takes a second.

        draw(ask.plot, found)
    if as_json:
        whole = {**document(engines, session_tokens), "ratio": ratio_document(found)}
        sys.stdout.write(json.dumps(whole, indent=2) + "\n")
    else:
        sys.stdout.writelines(text(found))
        for each in engines:
            sys.stdout.writelines(f"{each.engine.name}: {line.strip()}\n" for line in misfit(each))
