from components.peers.reader import answers
from toolcall import Parser
from toolcall.conformance import Case, ReadCall, Reading, read, reading
from toolcall.status import Event, collect

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"k": {"type": "string"}}}}}
CALL = "<tool_call>f<arg_key>k</arg_key><arg_value>é</arg_value></tool_call>"


class Library:
    """This library's parser behind the interface of the others."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._parser = Parser(case.toolset(), reasoning=case.reasoning)
        self._events: list[Event] = []
        self.steps: list[str] = []

    def whole(self) -> Reading:
        return reading(read(self._case, [self._case.output]))

    def feed(self, text: str) -> None:
        self.steps.append(text)
        self._events += self._parser.feed(text)

    def finish(self) -> Reading:
        self._events += self._parser.finish(self._case.engine_finish)
        parser = self._parser
        return reading(collect(self._events, finish_reason=parser.finish_reason, truncated=parser.truncated))


class Fragile(Library):
    def feed(self, text: str) -> None:
        raise KeyError(text)

    def whole(self) -> Reading:
        return Reading("", "half a pair: \ud800", ())


def test_each_case_is_read_whole_and_a_character_at_a_time() -> None:
    made: list[Library] = []

    def remembered(case: Case) -> Library:
        made.append(Library(case))
        return made[-1]

    case = Case(id="c", tools=[TOOL], output=CALL)

    whole, streamed = answers(remembered, [case])

    assert (whole.id, whole.mode, streamed.mode) == ("c", "whole", "streamed")
    assert whole.reading == streamed.reading == Reading("", "", (ReadCall("f", '{"k": "é"}', "ok"),), "tool_calls")
    assert [reader.steps for reader in made] == [[], list(CALL)]


def test_what_a_parser_raises_is_its_answer_and_the_next_case_is_read() -> None:
    first, second, *others = answers(Fragile, [Case(id="a", output="x"), Case(id="b", output="y")])

    assert first.error is not None
    assert first.error.startswith("UnicodeEncodeError")
    assert second.error == "KeyError: 'x'"
    assert [other.error for other in others] == [first.error, "KeyError: 'y'"]
