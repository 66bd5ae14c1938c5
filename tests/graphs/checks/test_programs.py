from collections.abc import Callable

from graphs.checks.programs import programs
from graphs.process import Plan
from tests.graphs.conftest import Resolve


def test_this_python_is_there(configure: Resolve, lay_out: Callable[..., Plan]) -> None:
    assert list(programs(lay_out(configure()))) == []


def test_a_program_that_is_not_installed_is_refused(configure: Resolve, lay_out: Callable[..., Plan]) -> None:
    plan = lay_out(configure("--Mooncake.rpc-port=5001"))
    for check in programs(plan):
        assert check.ok or check.mend == "pip install mooncake-transfer-engine==0.3.13.post1"
        assert check.name == "mooncake_master"
