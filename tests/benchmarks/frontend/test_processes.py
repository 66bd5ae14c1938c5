import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks.frontend.processes import ROOT, BenchmarkError, processes

SLEEP = ["-c", "import time; time.sleep(60)"]


def test_at_the_end_neither_a_process_nor_the_folder_is_left() -> None:
    with processes() as group:
        process = group.start("sleeper", SLEEP)
        assert process.poll() is None
    assert process.poll() == -signal.SIGTERM
    assert not group.folder.exists()


def test_a_process_that_ends_early_is_named_with_its_last_words() -> None:
    with processes() as group:
        group.start("worker", ["-c", "import sys; sys.exit('no model')"]).wait()
        with pytest.raises(BenchmarkError, match="worker ended with code 1: no model"):
            group.check()


def test_a_command_that_fails_is_named_with_its_last_words() -> None:
    with processes() as group, pytest.raises(BenchmarkError, match="the client failed: no port"):
        group.run("the client", ["-c", "import sys; sys.exit('no port')"])


def test_what_is_started_finds_its_own_store() -> None:
    with processes() as group:
        said = group.run("it", ["-c", "import os; print(os.environ['DYN_FILE_KV'])"]).decode().strip()
        assert Path(said) == group.folder / "store"
        assert Path(said).is_dir()


def test_a_killed_benchmark_leaves_nothing() -> None:
    program = (
        "import time\nfrom benchmarks.frontend.processes import processes\n"
        f"with processes() as group:\n    print(group.start('sleeper', {SLEEP}).pid, group.folder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    benchmark = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE)
    assert benchmark.stdout is not None
    pid, folder = benchmark.stdout.readline().decode().split()
    benchmark.kill()
    benchmark.wait()
    benchmark.stdout.close()
    deadline = time.monotonic() + 20
    while psutil.pid_exists(int(pid)) or Path(folder).exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
