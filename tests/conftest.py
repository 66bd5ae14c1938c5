"""What every run of the tests shares."""

from importlib import metadata

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--xgrammar", metavar="VERSION", help="fail unless this version of xgrammar is the one installed")


def pytest_configure(config: pytest.Config) -> None:
    wanted = config.getoption("--xgrammar")
    if wanted is not None and (found := metadata.version("xgrammar")) != wanted:
        raise pytest.UsageError(f"xgrammar {found} is installed, not {wanted}: put its folder first on PYTHONPATH")
