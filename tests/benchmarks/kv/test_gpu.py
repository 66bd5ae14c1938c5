import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.kv.gpu import NotHereError, arguments, gpu

ROOT = Path(__file__).parents[3]


def test_without_a_gpu_it_ends_with_one_line() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.kv.gpu"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.splitlines() == [
        "benchmarks.kv: torch finds no CUDA GPU here: run it where there is one of compute capability 8.9 or above"
    ]


def test_without_triton_it_says_what_installs_it() -> None:
    script = "import sys; sys.modules['triton'] = None; from benchmarks.kv.gpu import main; main()"
    ended = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 1
    assert ended.stderr == "benchmarks.kv: triton not installed here: pip install 'dynamo-glm[kv]'\n"


def test_an_old_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 0))
    with pytest.raises(NotHereError, match=r"compute capability 8\.0: it needs 8\.9 or above"):
        gpu()


def test_the_whole_range_is_measured_unless_flags_say_less() -> None:
    usual = arguments([])
    assert (usual.heads, usual.tokens, usual.contexts) == (
        [16, 64],
        [1, 4, 16, 64, 128, 256],
        [2048, 32_768, 204_800],
    )
    assert arguments(["--tokens", "8", "64"]).tokens == [8, 64]


@pytest.mark.parametrize("flag", ["--json", "--choice"])
def test_a_folder_that_is_not_there_is_found_before_the_run(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments([flag, "/nowhere/at/all.json"])
    assert f"{flag}: there is no folder /nowhere/at" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--json", "--choice"])
def test_a_folder_in_place_of_a_file_is_found_before_the_run(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        arguments([flag, str(tmp_path)])
    assert f"{flag}: {tmp_path} is a folder: name a file" in capsys.readouterr().err
