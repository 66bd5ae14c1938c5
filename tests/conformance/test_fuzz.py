"""Damaged outputs: whatever the model writes, nothing raises, and every chunking agrees."""

import random

import msgspec
import pytest

from tests.conformance.cases import outputs, seeded
from toolcall import markers
from toolcall.conformance import Case, arguments_of, pieces, read, reading

PIECES = (
    *markers.ALL, "put_file", "clock_now", "path", "content", "line", "\n", " ", "a", "{", "}", '"', "\\", "`", "```",
    "<", "</", "null", "true", "3", "<tool_call>put_file<arg_key>path</arg_key><arg_value>", "</arg_value></tool_call>",
    "<tool_call>other</tool_call>",
)  # fmt: skip


def damage(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at, length = rng.randrange(len(text) + 1), rng.randrange(1, 20)
        places = [at for marker in markers.ALL for at in range(len(text)) if text.startswith(marker, at)]
        match rng.randrange(4):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + length :]
            case 2:
                text = text[:at] + text[at : at + length] + text[at:]
            case _ if places:
                place = rng.choice(places)
                text = text[:place] + rng.choice(("", *PIECES)) + text[text.index(">", place) + 1 :]
    return text


def check(case: Case, rng: random.Random) -> None:
    whole = read(case, [case.output])
    for call in reading(whole).tool_calls:
        assert "<" not in call.name
        assert arguments_of(call) is not None, case.output
    for chunks in ("chars", str(rng.random())):
        assert read(case, pieces(case.output, chunks)) == whole, case.output


@pytest.mark.parametrize("seed", range(4))
def test_damaged_outputs_read_the_same_in_every_chunking(seed: int) -> None:
    rng = seeded(seed)
    cases = [case for case in outputs() if len(case.output) < 1500]
    for _ in range(500):
        case = rng.choice(cases)
        finish = rng.choice((case.engine_finish, "stop", "length"))
        check(msgspec.structs.replace(case, output=damage(case.output, rng), engine_finish=finish), rng)


@pytest.mark.parametrize("seed", range(2))
def test_markup_in_any_order_reads_the_same_in_every_chunking(seed: int) -> None:
    rng = seeded(seed)
    base = outputs()[0]
    for _ in range(400):
        output = "".join(rng.choice(PIECES) for _ in range(rng.randrange(25)))
        check(msgspec.structs.replace(base, output=output, prompt_tail=None, thinking=rng.random() < 0.3), rng)
