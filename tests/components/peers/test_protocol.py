import pytest

from components.peers.protocol import Answer, Peer, ProtocolError, line, read_answers
from toolcall.conformance import Case, ReadCall, Reading

CASES = (Case(id="a"), Case(id="b"))
READING = Reading("r", "line\u2028separator", (ReadCall("f", '{"k": 1}'),), "tool_calls")
ANSWERS = (
    Answer("a", "whole", READING),
    Answer("a", "streamed", error="refused"),
    Answer("b", "whole", READING),
    Answer("b", "streamed", READING),
)


def output(*answers: Answer) -> bytes:
    return b"".join(map(line, (Peer("p", "1.2"), *answers)))


def test_answers_come_back_in_pairs_by_case() -> None:
    assert read_answers(output(*ANSWERS), CASES) == (Peer("p", "1.2"), [ANSWERS[:2], ANSWERS[2:]])


@pytest.mark.parametrize(
    ("damaged", "why"),
    [
        (output(*ANSWERS[:3]), "3 answers to 4 questions"),
        (output(*ANSWERS, ANSWERS[0]), "5 answers to 4 questions"),
        (output(ANSWERS[1], ANSWERS[0], *ANSWERS[2:]), "line 2 is a, streamed, not a, whole"),
        (output(*ANSWERS)[:-5], "truncated"),
        (b"", "truncated"),
        (b"Loading weights\n" + output(*ANSWERS), "malformed"),
    ],
)
def test_output_that_is_not_what_was_asked_for_is_refused(damaged: bytes, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        read_answers(damaged, CASES)
