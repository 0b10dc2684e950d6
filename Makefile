PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help

TORCH_CPU := https://download.pytorch.org/whl/cpu
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help setup lint check test test-slow docs bench reproduce claims demo

help:  ## List these commands
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

# Without a GPU, the CPU build of torch from its own index; where that cannot be reached, the ordinary one.
$(VENV)/.demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	@command -v nvidia-smi >/dev/null 2>&1 || \
	  $(PIP) --retries 0 --timeout 5 --index-url $(TORCH_CPU) torch 2>/dev/null || \
	  echo "The CPU build of torch cannot be reached; installing the ordinary one."
	$(PIP) -e ".[hf]"
	@touch $@

$(VENV)/.ready: $(VENV)/.demo
	$(PIP) -e ".[dev]"
	@touch $@

setup: $(VENV)/.ready  ## Create the virtual environment and install everything in it

lint: setup  ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: setup  ## Check style, types and layers, and run the tests of the files changed since the last commit
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest -m "not slow and not hub" tests/test_layers.py $$($(BIN)/python -m tests.support.changed)

test: lint  ## Run the checks and the tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto -m "not slow and not hub"

test-slow: setup  ## Run the slow tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist loadgroup -m "slow"

docs: setup  ## Write the generated pages and build the documentation
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: setup  ## Measure speed; writes benchmarks/results.json and docs
	$(PIP) -e ".[bench]"
	$(BIN)/python -m benchmarks.run

reproduce: setup  ## Score published data with trained BERT and write docs/results/reproducing.md and docs/results/findings.md
	$(BIN)/python -m reproduction

claims: setup  ## Test the claims of published papers; writes docs/results/claims.md and its figure
	$(BIN)/python -m reproduction.claims

demo: $(VENV)/.demo  ## Install the model libraries, pull a small model, and evaluate the demonstration set in five languages
	$(BIN)/isogloss model pull smollm2
	$(BIN)/isogloss eval smollm2 --data demo --out runs/demo --explain
