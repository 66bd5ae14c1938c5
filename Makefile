# Everything runs from .venv, filled from requirements.lock.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Tags must hold on the version that vLLM 0.31.0 runs as well as on the locked one.
XGRAMMAR := 0.2.7

.PHONY: install check test test-xgrammar serve lock clean

install: .venv/.installed

# torch comes first and with its own dependencies: which ones it has depends on the build (CPU or CUDA) that pip picks
# for this machine. Everything else is exactly the lock.
.venv/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] < (3, 14) else "Python 3.11, 3.12 or 3.13 is needed, this is " + sys.version.split()[0] + ": call make with PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(PIP) install --constraint requirements.lock torch
	$(PIP) install --no-deps --requirement requirements.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	$(PIP) install --no-deps --upgrade --target .venv/xgrammar-$(XGRAMMAR) xgrammar==$(XGRAMMAR)
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

serve: install
	$(BIN)/dynamo serve graphs:glm53

lock:
	scripts/lock

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
