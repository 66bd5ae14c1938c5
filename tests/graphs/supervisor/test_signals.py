import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from graphs.supervisor import signals
from graphs.supervisor.signals import StopSignals


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """What listening changes is put back for the other tests."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_the_first_signal_is_told_by_its_number(number: signal.Signals) -> None:
    stop = StopSignals()
    os.kill(os.getpid(), number)
    assert await stop.first == number
    stop.close()


async def test_a_second_signal_is_told_and_a_repetition_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = StopSignals()
    os.kill(os.getpid(), signal.SIGINT)
    await stop.first
    monkeypatch.setattr(signals, "SAME_S", 1000)
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)
    await handled()
    assert not stop.second.done()
    monkeypatch.setattr(signals, "SAME_S", 0)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await stop.second == signal.SIGTERM
    stop.close()


async def handled() -> None:
    """Wait until the loop has handled the signals sent so far: it handles them in order."""
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, done.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await done.wait()
    loop.remove_signal_handler(signal.SIGUSR1)


async def test_under_nohup_the_end_of_the_terminal_is_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop = StopSignals()
    os.kill(os.getpid(), signal.SIGHUP)
    await handled()
    assert not stop.first.done()
    stop.close()


async def test_a_signal_after_the_end_changes_nothing() -> None:
    stop = StopSignals()
    stop.close()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM)
