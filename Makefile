# Every target makes its own environment: all a machine needs is Python >= 3.10 and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXTRAS ?= cpu,dev
export TF_CPP_MIN_LOG_LEVEL ?= 2

.PHONY: help env demo test test-slow check format lint types bench bench-growth bench-profile clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Lightwell needs Python 3.10 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@touch $@

env: $(VENV)/.ready  ## make the environment in .venv

demo: env  ## train the digit CNN, look inside it, make a picture
	$(BIN)/python examples/demo.py

# Two processes or more, a file of tests at a time: see tests/conftest.py.
PYTEST = $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4

test: env  ## run the tests (10 min on 2 cores); ARGS="tests/sight -x" runs some
	$(PYTEST) -m 'not slow and not oracle' $(ARGS)

test-slow: env  ## the tests that take minutes
	$(BIN)/python -m pytest -m 'slow and not oracle' $(ARGS)

test-oracle: env  ## TensorFlow 2.15.1 reads what Lightwell wrote; makes its environment
	test -x .venv-oracle/bin/python || ($(PYTHON) -m venv .venv-oracle && .venv-oracle/bin/python -m pip install --quiet 'tensorflow-cpu==2.15.1')
	LIGHTWELL_ORACLE=$${LIGHTWELL_ORACLE:-$(CURDIR)/.venv-oracle/bin/python} $(BIN)/python -m pytest -m oracle $(ARGS)

# ROWS=mlp,predict takes some rows, ROUNDS=3 fewer rounds, QUICK=1 tiny data to see that everything runs.
BENCH = $(BIN)/python -m benchmarks $(if $(ROWS),--rows '$(ROWS)') $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(QUICK),--quick)

bench: env  ## measure every performance goal beside the peers (25 min)
	$(BENCH)

bench-growth: env  ## measure how time and memory grow with layers, taps, rows, batch and weights
	$(BENCH) growth

bench-profile: env  ## tell where the time of one row goes: make bench-profile ROW=mlp
	$(BIN)/python -m benchmarks.profile $(ROW) $(if $(QUICK),--quick)

format: env  ## rewrite the sources in the house format
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: env  ## formatting and lint, changing nothing
	$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: env  ## strict types over src
	$(BIN)/mypy

check: lint types test  ## format, lint, types, tests

clean:  ## remove environments and caches
	rm -rf $(VENV) .venv-* .pytest_cache .mypy_cache .ruff_cache
