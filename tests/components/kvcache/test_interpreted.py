"""The tests of `kernels/`, in a process of their own: Triton is interpreted or compiled, never both in one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = Path(__file__).with_name("kernels").relative_to(ROOT)


def run(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(FOLDER)]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, env=environment)


@pytest.mark.timeout(400)
def test_the_kernels_pass_their_tests_by_tritons_interpreter() -> None:
    ended = run(os.environ | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    passed = re.search(r"(\d+) passed", ended.stdout)
    assert passed is not None
    assert int(passed[1]) >= 40
    assert "skipped" not in ended.stdout


def test_without_the_interpreter_they_are_refused_not_passed() -> None:
    ended = run({name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"})
    assert ended.returncode != 0
    assert "run it with TRITON_INTERPRET=1" in ended.stdout + ended.stderr
