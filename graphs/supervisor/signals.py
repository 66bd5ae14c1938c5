"""Being told to stop: the first signal asks for a drain, the second for the end."""

import asyncio
import signal

# Launchers such as `timeout` and `uv run` send a signal on to us that the terminal or the group already sent.
SAME_S = 0.2


class StopSignals:
    """Listens for SIGINT, SIGTERM and SIGHUP until closed.

    Attributes:
        first: Done with the number of the first signal.
        second: Done with the number of the second one; a repetition within `SAME_S` is the same one.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.first: asyncio.Future[int] = self._loop.create_future()
        self.second: asyncio.Future[int] = self._loop.create_future()
        self._at = 0.0
        # Under nohup the closing of the terminal is meant to be ignored.
        hangup = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
        self._numbers = (signal.SIGINT, signal.SIGTERM, *hangup)
        for number in self._numbers:
            self._loop.add_signal_handler(number, self._receive, int(number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)

    def close(self) -> None:
        """Stop listening, for good: one more signal must not change how the process ends."""
        # Blocked meanwhile: taking the handler off leaves the default for a moment.
        signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers)
        for number in self._numbers:
            self._loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)

    def _receive(self, number: int) -> None:
        if not self.first.done():
            self._at = self._loop.time()
            self.first.set_result(number)
        elif not self.second.done() and self._loop.time() - self._at > SAME_S:
            self.second.set_result(number)
