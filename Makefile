# Every target works on a fresh clone; what it needs is installed into .venv once.
# Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# EXTRAS=dev,lab also installs PyTorch, for the tests of real traffic.
EXTRAS ?= dev
SPEC = examples/superpod-b200-4su.yaml

.PHONY: help demo test check validate bench clean format lint types fast-tests

help:
	@echo "make demo    design a 1,016-GPU SuperPOD, predict its all-reduce, judge two logs (into out/demo)"
	@echo "make test    all tests"
	@echo "make check   format, lint, types, layers, budgets and the fast tests, in under a minute"
	@echo "make validate  how far predictions lie from published measurements (into out/validate)"
	@echo "make bench   speed and memory against size (into out/bench.json)"
	@echo "make clean   remove .venv, out and caches"

$(BIN)/python:
	@sh scripts/make-venv.sh "$(PYTHON)" "$(VENV)"

$(VENV)/.runtime: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing gpufabric into $(VENV)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing gpufabric and its test tools into $(VENV)"
	@$(PIP) --editable ".[$(EXTRAS)]"
	@touch $(VENV)/.runtime $@

demo: $(VENV)/.runtime
	$(BIN)/gpufabric design $(SPEC) -o out/demo
	$(BIN)/gpufabric collective $(SPEC) all_reduce --sizes 1M..8G
	$(BIN)/gpufabric collective $(SPEC) all_reduce --sizes 1M..8G --json > out/demo/all_reduce.json
	$(BIN)/gpufabric check $(SPEC) examples/logs/b200-128r-healthy.txt
	$(BIN)/gpufabric check $(SPEC) examples/logs/b200-128r-slow.txt || test $$? -eq 1
	@echo "open out/demo: the drawing, the bill of materials, the cabling plan and the all-reduce curve"

test: $(VENV)/.dev
	@$(BIN)/python -m pytest --numprocesses auto

# The layers contract and the budgets are among the fast tests (tests/architecture).
check: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs 2 --keep-going --output-sync format lint types fast-tests

format: $(VENV)/.dev
	@$(BIN)/ruff format --check --quiet . || { echo "not formatted: run $(BIN)/ruff format"; exit 1; }

lint: $(VENV)/.dev
	@$(BIN)/ruff check --quiet .

types: $(VENV)/.dev
	@$(BIN)/mypy

fast-tests: $(VENV)/.dev
	@$(BIN)/python -m pytest -m "not slow and not real" --hypothesis-profile fast --numprocesses 2

validate: $(VENV)/.runtime
	@mkdir -p out/validate
	$(BIN)/gpufabric validate collectives
	$(BIN)/gpufabric validate collectives --json > out/validate/collectives.json

bench: $(VENV)/.dev
	@$(BIN)/python benchmarks/run.py --json out/bench.json

clean:
	rm -rf $(VENV) out build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache .grimp_cache
	find src tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} +
