# Everything runs from .venv, filled from requirements.lock.
PYTHON ?= python3
BIN := .venv/bin
PIP_INSTALL := python -m pip --disable-pip-version-check --quiet install

# Tags must hold on the version that vLLM 0.31.0 runs as well as on the locked one.
XGRAMMAR := 0.2.7

# vLLM for CPUs pins other versions than the lock has, so its graphs and tests run from an environment of their own.
ENGINES := .venv-engines

.PHONY: install install-engines check test test-xgrammar test-engines serve lock clean

install: .venv/.installed

# torch comes first and with its own dependencies: which ones it has depends on the build (CPU or CUDA) that pip picks
# for this machine. Everything else is exactly the lock.
.venv/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] < (3, 14) else "Python 3.11, 3.12 or 3.13 is needed, this is " + sys.version.split()[0] + ": call make with PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/$(PIP_INSTALL) --constraint requirements.lock torch
	$(BIN)/$(PIP_INSTALL) --no-deps --requirement requirements.lock
	$(BIN)/$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/$(PIP_INSTALL) --no-deps --upgrade --target .venv/xgrammar-$(XGRAMMAR) xgrammar==$(XGRAMMAR)
	@touch $@

install-engines: $(ENGINES)/.installed

# torchvision is there in its CUDA build alone, and its fake kernels do not load beside a CPU torch: nothing here uses them.
$(ENGINES)/.installed: requirements-engines.lock pyproject.toml
	$(PYTHON) -m venv $(ENGINES)
	$(ENGINES)/bin/$(PIP_INSTALL) --constraint requirements-engines.lock torch
	$(ENGINES)/bin/$(PIP_INSTALL) --no-deps --requirement requirements-engines.lock
	$(ENGINES)/bin/$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	: > $$($(ENGINES)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torchvision/_meta_registrations.py
	@touch $@

check: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	$(BIN)/pytest

test-xgrammar: install
	PYTHONPATH=.venv/xgrammar-$(XGRAMMAR) $(BIN)/pytest --xgrammar $(XGRAMMAR) tests/toolcall tests/conformance/test_tags.py tests/conformance/test_bfcl.py

test-engines: install-engines
	$(ENGINES)/bin/pytest tests/engines

serve: install
	$(BIN)/dynamo serve graphs:glm53

lock:
	scripts/lock

clean:
	rm -rf .venv $(ENGINES) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
