import os
import socket
import stat
from pathlib import Path

import pytest

from graphs.errors import Refusal
from graphs.machine import detect_gpus, free_ports


def test_free_ports_differ_and_suit_the_runtimes_status_server() -> None:
    ports = free_ports(50)
    assert len(set(ports)) == 50
    # 1.6.1 reads DYN_SYSTEM_PORT as a signed 16-bit number.
    assert max(ports) < 2**15


def test_a_port_in_use_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    (port,) = free_ports(1)
    monkeypatch.setattr("graphs.machine._PORTS", range(port, port + 1))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        with pytest.raises(Refusal, match="1 free ports are needed"):
            free_ports(1)


def test_the_environment_says_which_gpus_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    assert detect_gpus() == (2, 3)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert detect_gpus() == ()


def test_gpus_named_by_uuid_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-8932f937")
    with pytest.raises(Refusal, match="write GPU indices with commas"):
        detect_gpus()


@pytest.mark.parametrize(("code", "found"), [(0, (0, 1)), (9, ())])
def test_nvidia_smi_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int, found: tuple[int, ...]
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\necho 0\necho 1\nexit {code}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert detect_gpus() == found


def test_a_machine_without_nvidia_smi_has_no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert detect_gpus() == ()
