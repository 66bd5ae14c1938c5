from toolcall import ArgumentsDelta, CallEnd, CallStart, CallStatus, ContentDelta, ReasoningDelta
from toolcall.outbox import Outbox


def test_neighbours_of_one_kind_travel_together() -> None:
    out = Outbox()
    for piece in ("a", "", "b"):
        out.text(ReasoningDelta, piece)
    out.text(ContentDelta, "c")
    out.start(0, "f")
    out.arguments(0, "{")
    out.arguments(0, "}")
    out.end(0, CallStatus("ok"))
    out.arguments(1, "{}")
    assert out.take() == [
        ReasoningDelta("ab"), ContentDelta("c"), CallStart(0, "f"), ArgumentsDelta(0, "{}"),
        CallEnd(0, CallStatus("ok")), ArgumentsDelta(1, "{}"),
    ]  # fmt: skip
    assert out.take() == []
