import subprocess
import sys

import pytest

from components.peers import __main__ as entry


@pytest.mark.parametrize("name", ["vllm", "sglang"])
def test_a_parser_that_is_not_installed_says_how_to_install_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, name, raising=False)

    with pytest.raises(entry.MissingError) as missing:
        entry._peer(name, ())

    message = str(missing.value)
    assert f"pip install --no-deps --target build/peers/{name} {name}==" in message
    assert message.endswith(f"PYTHONPATH=build/peers/{name}")


def run(name: str, lines: bytes) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "components.peers", name]
    return subprocess.run(command, input=lines, capture_output=True, check=False, timeout=60)


def test_a_line_that_is_no_case_ends_with_one_line() -> None:
    done = run("dynamo", b'{"id": 3}\n')

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"components.peers: Expected `str`, got `int` - at `$.id`\n"


def test_an_unknown_name_is_refused() -> None:
    done = run("nobody", b"")

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"invalid choice" in done.stderr
