import os
import signal
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from graphs.process import ProcessSpec
from graphs.supervisor.child import TAIL_LINES, Child, describe, start
from graphs.supervisor.guard import VARIABLE, mark, members
from tests.graphs.supervisor.harness import STUBBORN, spec


async def run(spec: ProcessSpec, on_line: Callable[[Child, str], None] = lambda *_: None) -> Child:
    graph_id = uuid.uuid4().hex
    env = {VARIABLE: f"{graph_id}/{spec.name}"}
    return await start(spec, env, mark(graph_id, spec.name), on_line, lambda _: None)


async def test_it_leads_its_own_session_and_process_group() -> None:
    child = await run(spec("Decode-0", "import os; print(os.getpid(), os.getsid(0), os.getpgid(0))"))
    assert await child.ended() == 0
    assert list(child.tail) == [f"{child.pid} {child.pid} {child.pid}"]


async def test_it_hears_both_outputs_in_the_order_of_writing() -> None:
    heard: list[str] = []
    code = "import os\nfor at in range(50): os.write(1 + at % 2, b'%d\\n' % at)"
    child = await run(spec("Decode-0", code), lambda _, line: heard.append(line))
    await child.ended()
    assert heard == [str(at) for at in range(50)]
    assert list(child.tail) == heard[-TAIL_LINES:]


async def test_it_has_nothing_to_read_and_no_descriptor_of_ours() -> None:
    reader, writer = os.pipe()
    child = await run(
        spec("Decode-0", "import os, sys; print(sys.stdin.read() == '', len(os.listdir('/proc/self/fd')))")
    )
    await child.ended()
    assert list(child.tail) == ["True 4"]  # The three standard ones, and that of the listing itself.
    os.close(reader)
    os.close(writer)


async def test_its_return_code_is_its_own_or_the_signal_that_ended_it() -> None:
    assert await (await run(spec("Decode-0", "raise SystemExit(42)"))).ended() == 42
    child = await run(spec("Decode-0", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
    assert await child.ended() == -signal.SIGSEGV


async def test_ending_kills_what_it_left_behind_and_tells_that_its_session_is_clear() -> None:
    code = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-I', '-S', '-c', {STUBBORN!r}]).pid)"
    cleared: list[int] = []
    left = spec("Decode-0", code)
    graph_id = uuid.uuid4().hex
    child = await start(left, {}, mark(graph_id, left.name), lambda *_: None, cleared.append)
    assert await child.ended() == 0
    assert cleared == [child.pid]
    assert members({child.pid}, mark(graph_id)) == set()
    assert child.tail[0].isdigit()


async def test_killing_one_that_has_ended_does_nothing() -> None:
    child = await run(spec("Decode-0", ""))
    await child.ended()
    child.kill()
    child.terminate()
    assert await child.ended() == 0


async def test_a_command_that_cannot_be_run_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        await run(ProcessSpec("Decode-0", "Decode", 0, ("/nowhere/at/all",)))
    with pytest.raises(PermissionError):
        await run(ProcessSpec("Decode-0", "Decode", 0, (str(Path(sys.executable).parent),)))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exited with code 0"),
        (3, "exited with code 3"),
        (-9, "was killed by SIGKILL"),
        (-63, "was killed by signal 63"),
    ],
)
def test_an_end_is_described_in_words(code: int, words: str) -> None:
    assert describe(code) == words
