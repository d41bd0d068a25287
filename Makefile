# Each target alone, on a fresh clone of a machine with Python, does all its set-up and runs.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && command -v $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
NEURAL := .venv-neural
TORCH ?= torch==2.13.0
# What the tests use of the system: a browser, Tesseract with its languages. Installed only as root and only if missing.
SYSTEM := chromium tesseract-ocr tesseract-ocr-deu tesseract-ocr-fra tesseract-ocr-lat tesseract-ocr-script-frak
EXAMPLES ?= 10000

.PHONY: demo test test-neural test-more lint bench fuzz system clean

demo: $(VENV)/.demo
	$(BIN)/histeval demo

test: $(VENV)/.test system lint
	$(BIN)/python -m pytest -n 2 -m "not neural and not bench and not browser"
	$(BIN)/python -m pytest -m browser tests/overview
	$(BIN)/python -m pytest -m bench tests/scale

test-neural: $(NEURAL)/.neural
	HF_HUB_OFFLINE=1 $(NEURAL)/bin/python -m pytest -m neural tests/systems/test_taggers*.py

# The properties alone, at least 10 000 generated cases each; takes long.
test-more: $(VENV)/.test
	HISTEVAL_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n 2 -v --durations 20 -m "hypothesis and not neural"

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python -m benchmarks

# Every reader for SECONDS each; what is found is kept in tests/fuzz/cases.
SECONDS ?= 60
fuzz: $(VENV)/.test
	cd tests && ../$(BIN)/python -m fuzz $(SECONDS)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Histeval needs Python 3.11, 3.12 or 3.13 (with venv); none was found."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[models,taggers,overview,import]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[models,taggers,overview,import,test]'
	@touch $@ $(VENV)/.demo

$(NEURAL)/.neural: pyproject.toml
	$(PYTHON) -m venv $(NEURAL)
	$(NEURAL)/bin/python -m pip install --quiet --disable-pip-version-check '$(TORCH)'
	$(NEURAL)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[taggers,neural,test]'
	@touch $@

system:
	@missing=; for p in $(SYSTEM); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	  else echo "Tests that need$$missing are left out; install with: apt-get install$$missing"; fi; fi

clean:
	rm -rf $(VENV) $(NEURAL) demo build dist .pytest_cache .mypy_cache .ruff_cache
