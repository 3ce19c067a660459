# Everything a developer does, by name. `make` alone prints the list.
# Needs python3 (3.11 or newer) with venv and pip; uses uv instead of pip when it is on the PATH.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
READY := $(VENV)/.ready
ifneq ($(shell command -v uv 2>/dev/null),)
MAKE_VENV := uv venv --quiet --python $(PYTHON) $(VENV)
INSTALL := uv pip install --quiet --python $(BIN)/python
else
MAKE_VENV := $(PYTHON) -m venv $(VENV)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif
WORKERS ?= 2
SEED ?= 0
WORDNET := /usr/share/wordnet/data.noun
APT := apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=5 -o Acquire::https::Timeout=5
GET_WORDNET := $(APT) install -y --no-install-recommends wordnet-base
GET_CHROMIUM := $(APT) install -y --no-install-recommends chromium
GET_JAVA := $(APT) install -y --no-install-recommends openjdk-17-jre-headless
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal
MYPY := $(BIN)/mypy --no-error-summary
# mypy uses one core and takes most of a minute, so it runs while the tests begin.
WITH_TYPES = @$(MYPY) & types=$$!; $(1); code=$$?; \
	wait $$types || { echo "mypy found errors, see above"; exit 1; }; exit $$code

# Tests start many processes, and without bytecode each of them compiles the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast test-all wordnet chromium java axe lint style format docs-tables golden bench torture lock clean

help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/\1|\2/' | awk -F'|' '{printf "  make %-11s %s\n", $$1, $$2}'

setup: $(READY) ## make .venv with all locked dependencies and this package (fast when nothing changed)

# What setveil needs without extras, and setveil itself: all that the demo needs.
$(BASE): requirements-base.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "setveil needs Python 3.11 or newer: make PYTHON=python3.12 setup"; exit 1; }
	@test -x $(BIN)/python || $(MAKE_VENV)
	$(INSTALL) --require-hashes -r requirements-base.lock
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(READY): $(BASE) requirements.lock
	$(INSTALL) --require-hashes -r requirements.lock
	@touch $@

demo: $(BASE) ## a full example on synthetic data: inspect, anonymize, verify, measure (writes to demo/)
	$(BIN)/setveil demo demo

test: style wordnet chromium java ## everything a change must pass: lint, types, tests
	$(call WITH_TYPES,$(PYTEST))

test-fast: style ## for daily work: the tests that start no process (no browser, Spark, torture or commands)
	$(PYTEST) -m "not long and not proof and not apart"

test-all: style wordnet chromium java axe ## the same with the long tests
	$(call WITH_TYPES,$(PYTEST) -m "not proof")

wordnet: ## install Debian's wordnet-base if it is missing and this machine allows it (else its tests are skipped)
	@test -e $(WORDNET) || test -n "$$SETVEIL_WORDNET$$WNSEARCHDIR" || ! command -v apt-get >/dev/null 2>&1 \
		|| { root=; test "$$(id -u)" = 0 || root="sudo -n"; \
			$$root timeout 45 sh -c "$(GET_WORDNET) || { $(APT) update && $(GET_WORDNET); }" </dev/null >/dev/null 2>&1; } \
		|| echo "WordNet could not be installed (apt-get install wordnet-base); its tests are skipped"

chromium: ## install Debian's chromium if it is missing and this machine allows it (else tests of pages are skipped)
	@command -v chromium >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1 \
		|| { root=; test "$$(id -u)" = 0 || root="sudo -n"; \
			$$root timeout 240 sh -c "$(GET_CHROMIUM) || { $(APT) update && $(GET_CHROMIUM); }" </dev/null >/dev/null 2>&1; } \
		|| echo "Chromium could not be installed (apt-get install chromium); tests of pages in a browser are skipped"

java: ## install Debian's Java 17 if there is none and this machine allows it (else tests of Spark are skipped)
	@command -v java >/dev/null 2>&1 || test -n "$$JAVA_HOME" || ! command -v apt-get >/dev/null 2>&1 \
		|| { root=; test "$$(id -u)" = 0 || root="sudo -n"; \
			$$root timeout 240 sh -c "$(GET_JAVA) || { $(APT) update && $(GET_JAVA); }" </dev/null >/dev/null 2>&1; } \
		|| echo "Java could not be installed (apt-get install openjdk-17-jre-headless); tests of Spark are skipped"

axe: ## install axe-core with npm if it is missing and this machine allows it (else its test is skipped)
	@test -e .axe/node_modules/axe-core || ! command -v npm >/dev/null 2>&1 \
		|| timeout 120 npm install --silent --no-save --prefix .axe axe-core@4 </dev/null >/dev/null 2>&1 \
		|| echo "axe-core could not be installed (npm install axe-core); its test is skipped"

lint: style ## ruff and mypy, changing nothing
	$(MYPY)

style: $(READY)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .

format: $(READY) ## let ruff put the code in order
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format --quiet .

docs-tables: $(READY) ## write the tables of the docs that are derived from the code
	$(BIN)/python -m tools.docs_tables

golden: $(READY) ## renew the hashes of what every method publishes and every command prints, after a wanted change
	$(BIN)/python -m tests.conformance.golden

bench: $(READY) ## one table: time, memory and slope, compared with a plain baseline
	$(BIN)/python -m benchmarks

torture: $(READY) ## try to break it: kills, full disks, fuzzed files, tampered releases (SEED=1 for other cases); all proofs and properties
	$(BIN)/python -m torture --seed $(SEED)
	$(PYTEST) -m proof
	HYPOTHESIS_PROFILE=long $(PYTEST) -m "hypothesis and not long"

lock: ## renew requirements.lock from pyproject.toml, and requirements-base.lock from both (needs uv)
	uv pip compile pyproject.toml --extra dev --extra frames --extra excel --extra charts --extra dp --extra spark --universal --python-version 3.11 --generate-hashes \
		--no-header --no-emit-index-url --annotate --upgrade --quiet --output-file requirements.lock
	$(PYTHON) -m tools.base_lock

clean: ## remove what make and the tests have made
	rm -rf $(VENV) .axe demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks torture -name __pycache__ -type d -prune -exec rm -rf {} +
