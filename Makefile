# Everything runs in .venv, made from requirements.lock with uv where there is one and with pip otherwise.
# Needed: make, and a Python of at least 3.11 (PYTHON=/path/to/python chooses one).

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed

# The first that runs and is new enough; a name on the path alone does not say so.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
UV ?= $(shell command -v uv 2>/dev/null)

# For tests/check.py: `make test FLAGS="--workers 1"`, or names of single sections.
FLAGS ?=
DEMO ?= $(PY) examples/demo.py
BENCH ?= $(PY) benchmarks/run.py --short

.DEFAULT_GOAL := help
.PHONY: help .venv demo test test-all check mutants fmt bench lock clean

help:
	@echo "make demo      a recorded panel, then one of this machine (fetches 1.1 GB, once; takes a few minutes)"
	@echo "make check     format, lint, types, imports, and the unit tests"
	@echo "make test      all that CI runs, with coverage"
	@echo "make test-all  the same and the tests that take minutes"
	@echo "make mutants   how many small wrongs put into the core its tests notice (ROOMS=\"tallies gates\"; hours)"
	@echo "make fmt       format and fix what can be fixed by itself"
	@echo "make bench     the benchmarks"
	@echo "make lock      resolve requirements.lock anew"
	@echo "make clean     remove what was built or cached; .venv stays"

.venv: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
ifeq ($(strip $(PYTHON)),)
	$(error No Python of at least 3.11 found; say which with PYTHON=/path/to/python)
endif
	@echo "$(VENV): installing requirements.lock; with pip this takes a minute"
ifneq ($(strip $(UV)),)
	@test -x $(PY) || $(UV) venv --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV)
	@$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements.lock
	@$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
else
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(PY) -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
endif
	@touch $@

demo: $(STAMP)
	@$(DEMO)

test: $(STAMP)
	@$(PY) tests/check.py $(FLAGS)

test-all: $(STAMP)
	@$(PY) tests/check.py --all $(FLAGS)

check: $(STAMP)
	@$(PY) tests/check.py --fast $(FLAGS)

mutants: $(STAMP)
	@$(PY) tests/mutants.py $(ROOMS)

fmt: $(STAMP)
	@$(VENV)/bin/ruff check --fix --quiet . || true
	@$(VENV)/bin/ruff format .

bench: $(STAMP)
	@$(BENCH)

# One lock for every system and every Python from the floor up: core, all extras and the tools. It names no index, so
# each machine uses its own. `make lock UPGRADE=` keeps what is locked and only adds what is missing.
UPGRADE ?= --upgrade
LOCK_VENV := build/lock-venv
LOCK_UV = $(or $(UV),$(LOCK_VENV)/bin/uv)

lock:
	@test -n "$(UV)" || test -x $(LOCK_VENV)/bin/uv || \
		{ $(PYTHON) -m venv $(LOCK_VENV) && $(LOCK_VENV)/bin/python -m pip install -qq --disable-pip-version-check uv; }
	$(LOCK_UV) pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --all-extras --group dev \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		$(UPGRADE) --output-file requirements.lock pyproject.toml

clean:
	rm -rf build dist mutants .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find agents benchmarks deliberate examples tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
