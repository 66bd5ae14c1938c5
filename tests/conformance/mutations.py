"""Outputs that a model never wrote: cases damaged, spliced, or made of their parts in any order."""

import random
from collections.abc import Sequence

import msgspec

from toolcall import markers
from toolcall.conformance import Case

_BITS = (
    *markers.ALL, "\n", " ", "\t", "a", "{", "}", "{}", "[", "]", '"', "\\", '\\"', "\\ud800", ",", ":", "`",
    "```", "<", "</", ">", "<tool", "_call>", "null", "true", "3", "-0.5e2", "1e999", "é🙂", "\u2028", "x" * 70,
    " " * 70, "other", "</arg_value></tool_call>", "</arg_value><arg_key>", "<tool_call>other</tool_call>",
)  # fmt: skip
_LONGEST = 1500


def mutated(cases: Sequence[Case], rng: random.Random) -> Case:
    """A case made of others; what it expects is not known."""
    case = rng.choice(cases)
    match rng.randrange(6):
        case 0:
            output = "".join(rng.choice(_parts(case)) for _ in range(rng.randrange(1, 30)))
        case 1:
            output = _spliced(case.output, rng.choice(cases).output, rng)
        case 2:
            output = _damaged(case.output + rng.choice(cases).output, _parts(case), rng)
        case _:
            output = _damaged(case.output, _parts(case), rng)
    return msgspec.structs.replace(
        case,
        output=output[:_LONGEST],
        prompt_tail=None,
        thinking=case.reasoning if rng.random() < 0.8 else not case.reasoning,
        engine_finish=rng.choice((case.engine_finish, "stop", "length")),
        tool_choice=case.tool_choice if rng.random() < 0.95 else "none",
        parallel_tool_calls=case.parallel_tool_calls if rng.random() < 0.9 else False,
    )


def _parts(case: Case) -> list[str]:
    """What outputs of a case are made of: markup and text, the names and keys of its tools, whole openings of calls."""
    parts = list(_BITS)
    for tool in case.toolset().tools:
        parts += [tool.name, f"{markers.CALL}{tool.name}", f"{tool.name}{{", f'{tool.name}>{{"']
        for key in tool.arguments[0]:
            pair = f"{markers.KEY}{key}{markers.KEY_END}{markers.VALUE}"
            parts += [key, f'"{key}": ', pair, f"{markers.CALL}{tool.name}{pair}"]
    return parts


def _damaged(text: str, parts: list[str], rng: random.Random) -> str:
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at, length = rng.randrange(len(text) + 1), rng.randrange(1, 20)
        places = [place for marker in markers.ALL for place in range(len(text)) if text.startswith(marker, place)]
        match rng.randrange(4):
            case 0:
                text = text[:at] + rng.choice(parts) + text[at:]
            case 1:
                text = text[:at] + text[at + length :]
            case 2:
                text = text[:at] + text[at : at + length] + text[at:]
            case _ if places:
                place = rng.choice(places)
                text = text[:place] + rng.choice(("", *parts)) + text[text.index(">", place) + 1 :]
    return text


def _spliced(text: str, other: str, rng: random.Random) -> str:
    at, start = rng.randrange(len(text) + 1), rng.randrange(len(other) + 1)
    return text[:at] + other[start : start + rng.randrange(200)] + text[at + rng.choice((0, 0, 5, 30)) :]
