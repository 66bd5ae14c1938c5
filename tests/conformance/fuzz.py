"""The fuzzer: whatever the model writes, nothing raises, nothing is lost, and every chunking reads the same.

    python -m tests.conformance.fuzz --seconds 600 --seed 7

The same seed makes the same outputs. A fault ends it with exit code 1 and the shortest output found that shows it, as a
case on standard output.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator

import msgspec

from tests.conformance.accounting import unaccounted
from tests.conformance.cases import outputs, seeded
from tests.conformance.mutations import mutated
from toolcall import Message, ToolCall, ToolSet, markers
from toolcall.conformance import Case, arguments_of, pieces, read, reading

STATUSES = frozenset({"ok", "undeclared", "invalid", "recovered"})


def fault(case: Case) -> str | None:
    """What is wrong with the reading of a case, whatever it should be read as; None when nothing is."""
    try:
        whole = read(case, [case.output])
        for chunks in ("chars", "1", "2"):
            if read(case, pieces(case.output, chunks)) != whole:
                return f"pieces {chunks} read otherwise"
        return _wrong_message(case, whole) or unaccounted(case)
    except Exception as error:  # noqa: BLE001 - any exception at all is the fault that is looked for.
        return f"{type(error).__name__}: {error}"


def _wrong_message(case: Case, message: Message) -> str | None:
    msgspec.json.encode(message)
    tools = case.toolset()
    calls = [problem for call in message.tool_calls if (problem := _wrong_call(tools, call))]
    if calls:
        return calls[0]
    if any(arguments_of(call) is None for call in reading(message).tool_calls):
        return "arguments are no JSON object without repeated keys"
    if message.tool_calls and (tools.choice.mode == "none" or (len(message.tool_calls) > 1 and not tools.parallel)):
        return "more calls than the request allows"
    finish = "tool_calls" if message.tool_calls else "stop"
    wanted = finish if case.engine_finish == "stop" else case.engine_finish
    return None if message.finish_reason == wanted else f"finish reason {message.finish_reason}"


def _wrong_call(tools: ToolSet, call: ToolCall) -> str | None:
    if not call.name or any(marker in call.name for marker in markers.ALL) or call.name.strip() != call.name:
        return f"name {call.name!r}"
    tool = tools.by_name(call.name)
    if call.status.kind not in STATUSES or (call.status.kind == "undeclared") is not (tool is None):
        return f"status {call.status}"
    valid = tool is None or tool.validator.is_valid(msgspec.json.decode(call.arguments))
    return None if valid or call.status.kind == "invalid" else f"status {call.status.kind} of invalid arguments"


def found(seed: int | str, until: Callable[[int], bool]) -> Iterator[tuple[int, Case | None]]:
    """Mutate cases until told to stop; yields how many were tried, with the fault of the last where it had one."""
    rng = seeded(seed)
    cases = [case for case in outputs() if len(case.output) < 1200]
    tried = 0
    while not until(tried):
        case = mutated(cases, rng)
        tried += 1
        wrong = fault(case)
        yield tried, (shortest(case, wrong) if wrong else None)


def shortest(case: Case, wrong: str) -> Case:
    """The case with all that can be left out of its output while something is still wrong."""
    size = max(1, len(case.output) // 2)
    while size:
        at = 0
        while at < len(case.output):
            less = msgspec.structs.replace(case, output=case.output[:at] + case.output[at + size :])
            still = fault(less)
            case, wrong = (less, still) if still else (case, wrong)
            at += 0 if still else size
        size //= 2
    return msgspec.structs.replace(case, id=f"fuzz-{case.id}", why=wrong, expect=type(case.expect)())


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit code."""
    parser = argparse.ArgumentParser(description="Read damaged outputs and look for faults.")
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="where to begin (default: %(default)s)")
    options = parser.parse_args(arguments)
    start, last, faulty = time.monotonic(), 0, None
    for tried, wrong in found(options.seed, lambda _: time.monotonic() - start > options.seconds):
        last, faulty = tried, wrong
        if faulty is not None:
            print(msgspec.json.encode(faulty).decode())  # noqa: T201 - the result of the command.
            break
    seconds = time.monotonic() - start
    verdict = "no fault" if faulty is None else faulty.why
    print(  # noqa: T201 - the result of the command.
        f"seed {options.seed}: {last} outputs in {seconds:.0f} s, {last / seconds:.0f} a second: {verdict}",
        file=sys.stderr,
    )
    return 0 if faulty is None else 1


if __name__ == "__main__":
    sys.exit(main())
