"""`python -m components.peers NAME`: have another parser read the cases on standard input."""

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from components.peers import NAMES, dynamo, reader
from components.peers.protocol import Answer, Peer, line
from toolcall.conformance import Case, load_cases

_TRIED: Final = {"vllm": "0.33.0", "sglang": "0.5.23"}
_BAD_INPUT: Final = 2


class MissingError(RuntimeError):
    """The parser is not installed; the message says how to install it."""


def _peer(name: str, cases: Sequence[Case]) -> tuple[str, Iterable[Answer]]:
    """Return a parser's version and its answers.

    Raises:
        MissingError: It is not installed, or cannot be imported.
    """
    if name not in _TRIED:
        return dynamo.version(), dynamo.answers(name, cases)
    found = importlib.util.find_spec(name)
    # A folder of that name somewhere on the path is found too, as a package without a file.
    if found is None or found.origin is None:
        folder = f"build/peers/{name}"
        install = f"pip install --no-deps --target {folder} {name}=={_TRIED[name]}"
        raise MissingError(f"{name} is not installed; install it apart with `{install}` and set PYTHONPATH={folder}")
    try:
        module = importlib.import_module(f"components.peers.{name}")
    except ImportError as error:
        raise MissingError(f"{name} is installed, but its parser cannot be imported: {error}") from error
    return module.version(), reader.answers(module.Reader, cases)


def main() -> int:
    """Answer the cases; the exit code."""
    flags = argparse.ArgumentParser(prog="python -m components.peers", description=__doc__)
    flags.add_argument("name", choices=NAMES)
    name = flags.parse_args().name
    # Engines print as they please; only answers may go where answers are expected.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        try:
            cases = load_cases(sys.stdin.buffer.read().decode())
            version, answers = _peer(name, cases)
        except (MissingError, TimeoutError, msgspec.DecodeError) as error:
            sys.stderr.write(f"components.peers: {error}\n")
            return _BAD_INPUT
        output.write(line(Peer(name, version)))
        for answer in answers:
            output.write(line(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
