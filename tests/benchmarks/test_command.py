import argparse
from collections.abc import Callable

import pytest

from benchmarks.command import positive, run


def fail(error: BaseException) -> Callable[[], None]:
    def measure() -> None:
        raise error

    return measure


@pytest.mark.parametrize(("found", "code"), [(None, 0), (True, 0), (False, 1)])
def test_a_missed_promise_is_the_exit_code(found: bool | None, code: int) -> None:
    with pytest.raises(SystemExit) as ended:
        run("name", lambda: found)
    assert ended.value.code == code


def test_what_a_person_can_mend_is_one_line() -> None:
    with pytest.raises(SystemExit) as ended:
        run("name", fail(ValueError("no such trace")), ValueError)
    assert ended.value.code == "benchmarks.name: no such trace"


def test_a_defect_keeps_its_traceback() -> None:
    with pytest.raises(KeyError):
        run("name", fail(KeyError("a defect")), ValueError)


def test_ctrl_c_ends_as_any_command_does() -> None:
    with pytest.raises(SystemExit) as ended:
        run("name", fail(KeyboardInterrupt()))
    assert ended.value.code == 130


def test_zero_is_no_positive_number() -> None:
    assert positive("3") == 3
    with pytest.raises(argparse.ArgumentTypeError, match="0 is not a positive whole number"):
        positive("0")
