PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help

.PHONY: help setup lint test test-slow docs bench reproduce demo

help:  ## Show what can be made
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

setup: $(VENV)/.ready  ## Make the virtual environment with everything in it

lint: setup  ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint  ## Run the checks and the tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto -m "not slow and not hub"

test-slow: setup  ## Run the slow tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist loadgroup -m "slow"

docs: setup  ## Write the generated pages and build the documentation
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict --quiet

bench: setup  ## Measure speed; writes benchmarks/results.json and docs
	$(BIN)/pip install --quiet -c constraints.txt -e ".[bench]"
	$(BIN)/python -m benchmarks.run

reproduce: setup  ## Score published data with trained BERT and write docs/reproducing.md and docs/findings.md
	$(BIN)/python -m reproduction

demo: setup  ## Pull a small model and evaluate the demonstration set in five languages
	$(BIN)/isogloss model pull smollm2
	$(BIN)/isogloss eval smollm2 --data demo --out runs/demo --explain
