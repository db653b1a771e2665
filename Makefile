PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test fuzz test-deep test-cov lint types format bench docs build release-check clean

$(BIN)/fwctl: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[runtime]'
	@touch $(BIN)/fwctl

$(VENV)/.dev: pyproject.toml $(BIN)/fwctl
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $(VENV)/.dev

demo: $(BIN)/fwctl  ## the whole job on the embedded simulator, no account needed
	$(BIN)/fwctl demo

test: $(VENV)/.dev  ## the whole test suite, offline
	$(BIN)/python -m pytest -n auto

fuzz: $(VENV)/.dev  ## the laws on examples that were never tried
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n auto tests/property tests/drafting tests/quality tests/spec

test-deep: $(VENV)/.dev  ## every crash point and fault of every change, about an hour on two cores
	$(BIN)/python -m pytest -n auto -m deep

test-cov: $(VENV)/.dev  ## the suite with branch coverage
	$(BIN)/python -m pytest -n auto --cov --cov-report=term

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## the package, and the programs in the documentation
	$(BIN)/mypy
	$(BIN)/python -m tests.docs.python_blocks .mypy_cache/pages
	$(BIN)/mypy --strict $$(ls .mypy_cache/pages/*.py)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## every figure of docs/performance.md with the command that makes it
	$(BIN)/python -m benchmarks

docs: $(BIN)/fwctl  ## the documentation as a site in site/, warnings are errors
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	$(BIN)/sphinx-build -W --keep-going -q -b html docs site
	@echo "site/index.html"

build: $(VENV)/.dev  ## wheel and sdist in dist/
	rm -rf dist
	$(BIN)/python -m pip install -q build
	$(BIN)/python -m build

release-check: build  ## wheel and sdist, each installed into an empty environment
	.ci/release-check

clean:
	rm -rf $(VENV) dist build site .firectl-sim .fwctl
