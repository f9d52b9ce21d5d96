# Every target works in .venv/ of this checkout and installs what it needs first; quick once that is done.
.DEFAULT_GOAL := help
.PHONY: help run test lint types unit train bench gate eval wheel clean
SHELL := /bin/bash

VENV := .venv
VERSION ?= next
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install -qq --constraint constraints.txt
# The first interpreter on the path that is new enough. PYTHON=... overrides it.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)

help:
	@echo "make run     install slotcache here and replay a week of support traffic"
	@echo "make test    ruff, mypy --strict, pytest and the gate"
	@echo "make gate    the project's own pairs: any false hit fails"
	@echo "make eval    every set there is, in one JSON file: any false hit or personal leak fails"
	@echo "make bench   speed and accuracy, each with its command"
	@echo "make train   VERSION=2026.4: retrain the shipped model from the base weights and examples"
	@echo "make wheel   build the wheel into dist/"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "slotcache needs Python 3.11 or newer; none found on the path" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing slotcache into $(VENV) ..."
	$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing slotcache and its tools into $(VENV) ..."
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-training: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing slotcache and what training needs into $(VENV) ..."
	$(PIP) --editable '.[training]'
	@touch $@ $(VENV)/.installed

run: $(VENV)/.installed
	$(BIN)/slotcache replay --demo

test: lint types unit gate

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

unit: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto --dist loadfile $(PYTEST_ARGS)

gate: $(VENV)/.installed
	$(BIN)/slotcache eval gate

# MORE names further files and folders of JSON lines.
eval: $(VENV)/.installed
	$(BIN)/slotcache eval all $(MORE) --out dist/evaluation.json

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks

train: $(VENV)/.installed-training
	$(BIN)/python -m training --out models/$(VERSION)

wheel: $(VENV)/.installed-dev
	$(BIN)/python -m build --wheel --outdir dist .

clean:
	rm -rf dist $(VENV) .mypy_cache .ruff_cache .pytest_cache
