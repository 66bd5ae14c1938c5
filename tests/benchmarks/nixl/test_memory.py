import sys

import pytest

from benchmarks.nixl.__main__ import main
from benchmarks.nixl.memory import NixlError, check_room, load

MEMINFO = "MemTotal:       24000000 kB\nMemAvailable:    1000000 kB\nBuffers:  1 kB\n"


@pytest.fixture
def _no_nixl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nixl_cu12", None)
    monkeypatch.setitem(sys.modules, "nixl_cu12._api", None)


@pytest.mark.usefixtures("_no_nixl")
def test_without_nixl_it_is_said_what_to_install() -> None:
    with pytest.raises(NixlError, match=r"\.venv-engines.*nixl-cu12==1\.4\.1"):
        load()


@pytest.mark.usefixtures("_no_nixl")
def test_the_command_ends_with_that_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["nixl"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert str(ended.value.code).startswith("benchmarks.nixl: NIXL is not installed here")
    assert "\n" not in str(ended.value.code)


def test_pools_that_do_not_fit_are_refused_before_they_are_made() -> None:
    with pytest.raises(NixlError, match=r"take 2\.0 GB and 1\.0 are free: take a larger --scale"):
        check_room(2_000_000_000, MEMINFO)


def test_pools_that_fit_pass() -> None:
    check_room(1_000_000_000, MEMINFO)
