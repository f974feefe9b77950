# `make demo` and `make test` need Python 3.11 or later, make and a package index; they set up the rest themselves.

INSTALLED := .venv/.installed
WEIGHTS := .venv/.weights
PYTHON ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types docs bench lock clean

help: ## say what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 8

setup: $(INSTALLED) ## create .venv with the pinned packages

demo: $(INSTALLED) $(WEIGHTS) ## play a small tournament of real local models
	.venv/bin/coupled-arena demo

test: $(INSTALLED) $(WEIGHTS) ## run the tests; ARGS="-k swiss" is passed on
	@scripts/browser
	COUPLED_ARENA_THREADS=1 .venv/bin/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile $(ARGS)

lint: $(INSTALLED) ## check style, format and the direction of imports
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/lint-imports

types: $(INSTALLED) ## check types, tests included
	.venv/bin/mypy

docs: $(INSTALLED) ## build the site in build/docs; a warning or a dead link fails it
	.venv/bin/sphinx-build --fail-on-warning --keep-going --quiet docs build/docs

bench: $(INSTALLED) $(WEIGHTS) ## run the benchmarks
	set -e; for file in benchmarks/[!_]*.py; do .venv/bin/python "$$file"; done

lock: $(INSTALLED) ## pin every package anew; ARGS=--upgrade takes the newest
	.venv/bin/python scripts/lock.py $(ARGS)

clean: ## remove .venv and every cache; models and stores stay
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): requirements.txt pyproject.toml scripts/setup
	@PYTHON="$(PYTHON)" scripts/setup

$(WEIGHTS): $(INSTALLED)
	@scripts/weights
