import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from graphs.errors import Refusal
from graphs.machine import detect_gpus, free_ports, lowest_capability


def test_free_ports_are_in_a_row_and_suit_the_runtimes_status_server() -> None:
    ports = free_ports(50)
    assert ports == tuple(range(ports[0], ports[0] + 50))
    # 1.6.1 reads DYN_SYSTEM_PORT as a signed 16-bit number.
    assert max(ports) < 2**15


def test_a_port_in_use_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    (port,) = free_ports(1)
    monkeypatch.setattr("graphs.machine._PORTS", range(port, port + 1))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        with pytest.raises(Refusal, match="1 free ports in a row are needed"):
            free_ports(1)


def test_a_port_in_use_is_stepped_over(monkeypatch: pytest.MonkeyPatch) -> None:
    first, taken_port, *rest = free_ports(4)
    monkeypatch.setattr("graphs.machine._PORTS", range(first, rest[-1] + 1))
    with socket.socket() as taken:
        # On another address of this machine than the workers' own.
        taken.bind(("127.0.0.2", taken_port))
        assert free_ports(2) == tuple(rest)


def test_the_environment_says_which_gpus_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    assert detect_gpus() == (2, 3)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert detect_gpus() == ()


def test_gpus_named_by_uuid_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-8932f937")
    with pytest.raises(Refusal, match="write GPU indices with commas"):
        detect_gpus()


@pytest.fixture
def nvidia_smi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Puts a program on PATH that writes lines, and says with which arguments it was called."""

    def put(*lines: str, code: int = 0) -> None:
        program = tmp_path / "nvidia-smi"
        echoes = "".join(f"echo {line}\n" for line in lines)
        program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n{echoes}exit {code}\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return put


@pytest.mark.parametrize(("code", "found"), [(0, (0, 1)), (9, ())])
def test_nvidia_smi_is_asked(nvidia_smi: Callable[..., None], code: int, found: tuple[int, ...]) -> None:
    nvidia_smi("0", "1", code=code)
    assert detect_gpus() == found


@pytest.mark.parametrize(
    ("lines", "found"), [(("10.0", "9.0"), (9, 0)), (("12.1",), (12, 1)), (("[N/A]",), None), ((), None)]
)
def test_the_lowest_capability_counts(
    nvidia_smi: Callable[..., None], tmp_path: Path, lines: tuple[str, ...], found: tuple[int, int] | None
) -> None:
    nvidia_smi(*lines)
    assert lowest_capability() == found
    assert (tmp_path / "asked").read_text() == "--query-gpu=compute_cap --format=csv,noheader\n"


def test_a_machine_without_nvidia_smi_has_no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert detect_gpus() == ()
    assert lowest_capability() is None
