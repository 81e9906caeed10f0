# Every target makes its own environment: all a machine needs is Python >= 3.10 and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXTRAS ?= cpu,dev
export TF_CPP_MIN_LOG_LEVEL ?= 2

.PHONY: help env demo test test-all test-changed test-slow test-programs test-oracle test-old-oracle test-tf216 test-legacy-keras test-packages test-gpu fuzz check format lint types bench bench-gpu bench-growth bench-scaling bench-profile clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 28

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
PARALLEL = -m pytest --numprocesses auto --maxprocesses 4
USUAL = not slow and not oracle and not old_oracle and not packages

test: env  ## the tests in minutes: one case of every table; ARGS="tests/inside/watches -x" runs some
	$(BIN)/python $(PARALLEL) -m '$(USUAL)' --brief $(ARGS)

test-all: env  ## all tests, every case of every table
	$(BIN)/python $(PARALLEL) -m '$(USUAL)' $(ARGS)

test-changed: env  ## all tests that reach what differs from BASE=main, by the import graph
	@files=$$($(BIN)/python -m tests.changed $(or $(BASE),main)); \
	  if [ -z "$$files" ]; then echo "No test reaches what changed."; else $(BIN)/python $(PARALLEL) -m '$(USUAL)' $$files $(ARGS); fi

test-slow: env  ## the tests that take minutes
	$(BIN)/python -m pytest -m slow $(ARGS)

test-programs: env  ## every old program of tests/data, run unchanged, prints what it printed (many minutes); ARGS="-k google"
	$(BIN)/python -m pytest tests/programs $(ARGS)

test-oracle: env  ## TensorFlow 2.15.1 reads what Lightwell wrote; makes its environment
	test -x .venv-oracle/bin/python || ($(PYTHON) -m venv .venv-oracle && .venv-oracle/bin/python -m pip install --quiet 'tensorflow-cpu==2.15.1')
	LIGHTWELL_ORACLE=$${LIGHTWELL_ORACLE:-$(CURDIR)/.venv-oracle/bin/python} $(BIN)/python -m pytest -m oracle $(ARGS)

# TensorFlow 2.8 runs on Python up to 3.10, 1.15 up to 3.7.
test-old-oracle: env  ## TensorFlow 2.8.4 and 1.15.5 go on with boosted trees of Lightwell; makes their environments; PYTHON_3_10=, PYTHON_3_7=
	test -n "$$LIGHTWELL_ORACLE_2_8" || test -x .venv-oracle-2.8/bin/python || ($(or $(PYTHON_3_10),python3.10) -m venv .venv-oracle-2.8 \
	  && .venv-oracle-2.8/bin/python -m pip install --quiet 'tensorflow-cpu==2.8.4' 'protobuf<3.20' 'numpy<1.24')
	test -n "$$LIGHTWELL_ORACLE_1_15" || test -x .venv-oracle-1.15/bin/python || ($(or $(PYTHON_3_7),python3.7) -m venv .venv-oracle-1.15 \
	  && .venv-oracle-1.15/bin/python -m pip install --quiet 'tensorflow==1.15.5' 'protobuf<3.21')
	LIGHTWELL_ORACLE_2_8=$${LIGHTWELL_ORACLE_2_8:-$(CURDIR)/.venv-oracle-2.8/bin/python} LIGHTWELL_ORACLE_1_15=$${LIGHTWELL_ORACLE_1_15:-$(CURDIR)/.venv-oracle-1.15/bin/python} \
	  $(BIN)/python -m pytest -m old_oracle $(ARGS)

# PROGRAMS=1000 how many, SEED=1 the first, WAYS=all or some by name, JOBS=2 processes beside each other, REDUCE=0 leaves failures as they are,
# HAVING=accumulated,saver takes programs with these parts alone.
fuzz: env  ## random programs in all ways and on TensorFlow 2.15.1, compared (an hour); PROGRAMS=, SEED=, WAYS=, JOBS=
	test -x .venv-oracle/bin/python || test -n "$$LIGHTWELL_ORACLE" || ($(PYTHON) -m venv .venv-oracle && .venv-oracle/bin/python -m pip install --quiet 'tensorflow-cpu==2.15.1')
	LIGHTWELL_ORACLE=$${LIGHTWELL_ORACLE:-$(CURDIR)/.venv-oracle/bin/python} $(BIN)/python -m tests.fuzz \
	  $(if $(PROGRAMS),--programs $(PROGRAMS)) $(if $(SEED),--seed $(SEED)) $(if $(WAYS),--ways $(WAYS)) $(if $(JOBS),--jobs $(JOBS)) $(if $(REDUCE),--reduce $(REDUCE)) $(if $(HAVING),--having $(HAVING))

# Environments of other releases: $(call other,name,packages) makes .venv-name.
define other
	test .venv-$(1)/.ready -nt pyproject.toml || ($(PYTHON) -m venv .venv-$(1) \
	  && .venv-$(1)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' $(2) \
	  && touch .venv-$(1)/.ready)
endef

test-tf216:  ## the tests on TensorFlow 2.16, the oldest supported; makes its environment
	$(call other,tf216,'tensorflow-cpu==2.16.*' 'pyarrow<22')  # later ones refuse the NumPy of 2.16
	.venv-tf216/bin/python $(PARALLEL) -m '$(USUAL)' $(ARGS)

test-legacy-keras:  ## the tests of Keras inside model_fn with tf_keras in its place; makes its environment
	$(call other,legacy-keras,'tensorflow-cpu==2.21.*' tf_keras)
	TF_USE_LEGACY_KERAS=1 .venv-legacy-keras/bin/python $(PARALLEL) $(or $(ARGS),tests/model/interop tests/estimator/from_keras)

# Needs a GPU and a TensorFlow that sees it: EXTRAS=cuda,dev, or INTERPRETER=python3 with all packages. Several processes share
# the GPU, so each takes memory as it needs it; matrix products in full float32, as the recorded numbers have it.
ON_GPU = TF_FORCE_GPU_ALLOW_GROWTH=true NVIDIA_TF32_OVERRIDE=0
test-gpu: $(if $(INTERPRETER),,env)  ## the tests on a machine with a GPU; ARGS=--brief for one case of every table
	$(ON_GPU) $(or $(INTERPRETER),$(BIN)/python) $(PARALLEL) -m '$(USUAL)' $(ARGS)

test-packages:  ## packages written for tf.estimator (deepctr, tensorflow-gan) train models, ONNX files are made, PyTorch reads a capture; makes their environment
	$(call other,packages,'tensorflow-cpu==2.21.*' tensorboard tf_keras tensorflow-hub tensorflow-probability h5py requests pyarrow xxhash 'torch==2.13.0' 'setuptools<81')
	.venv-packages/bin/python -m pip install --quiet --disable-pip-version-check --no-deps deepctr tensorflow-gan
	.venv-packages/bin/python -m pip install --quiet --disable-pip-version-check tf2onnx onnxruntime
	.venv-packages/bin/python -m pytest -m packages $(ARGS)

# ROWS=mlp,predict takes some rows, ROUNDS=3 fewer rounds, QUICK=1 tiny data to see that everything runs,
# BEFORE=../other-checkout an earlier Lightwell beside ours; ROWS=big the rows of big models, which take long and memory.
BENCH = $(if $(BEFORE),LIGHTWELL_BEFORE='$(abspath $(BEFORE))') $(BIN)/python -m benchmarks $(if $(ROWS),--rows '$(ROWS)') $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(QUICK),--quick)

bench: env  ## measure every performance goal beside the peers (25 min)
	$(BENCH)

bench-growth: env  ## measure how time and memory grow with layers, watches, rows and weights (ROWS= picks some); writes GROWTH.md
	$(BENCH) growth

bench-scaling: env  ## measure processes and devices that train together, on this machine
	$(BENCH) scaling

# LIMIT=500 ends it after so many seconds, with the rows that it had time for; TURN=0.8 is how long a measurement takes;
# PROFILES=1 profiles our side of rows that miss a goal; OUT=folder is where to write.
bench-gpu: $(if $(INTERPRETER),,env)  ## measure training on a GPU beside the peers, on a machine that has one; writes GPU.md
	$(or $(INTERPRETER),$(BIN)/python) -m benchmarks gpu $(if $(ROWS),--rows '$(ROWS)') $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(QUICK),--quick) \
	  $(if $(INTERPRETER),--python '$(INTERPRETER)') $(if $(LIMIT),--seconds $(LIMIT)) $(if $(TURN),--turn $(TURN)) $(if $(PROFILES),--profiles) $(if $(OUT),--out '$(OUT)')

bench-profile: env  ## show where the time of one row goes: make bench-profile ROW=mlp
	$(BENCH) profile --rows '$(ROW)'

# The environment of a peer, made when a row first needs it; all of them install on Python 3.11.
bench-peer-%:
	@digest=$$(sha256sum < benchmarks/peers/$*.txt | cut -c -64); place=.venv-bench-$*; \
	test "$$(cat $$place/bench-ready 2>/dev/null)" = $$digest || ( \
	  echo "Making $$place." && $(or $(shell command -v python3.11),$(PYTHON)) -m venv $$place \
	  && $$place/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers/$*.txt \
	  && printf %s $$digest > $$place/bench-ready )

format: env  ## rewrite the sources in the house format
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: env  ## formatting and lint, changing nothing
	$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: env  ## strict types over src
	$(BIN)/mypy

check: lint types test  ## format, lint, types, tests

clean:  ## remove environments and caches
	rm -rf $(VENV) .venv-* .pytest_cache .mypy_cache .ruff_cache
