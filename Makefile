# The words of this project; `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
T ?=
# Where it is set, every start of a process compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: pictures help run setup test test-sqlite test-postgresql check types rules format bench soak migration schema access events lock

help: ## List these words
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 20

run: .venv/.run ## Install, migrate and serve http://127.0.0.1:8080
	$(BIN)/ingot serve

setup: .venv/.dev ## Install everything, also what tests and checks need

.venv/.run: requirements.lock pyproject.toml scripts/setup
	PYTHON=$(PYTHON) sh scripts/setup requirements.lock
	@touch $@

.venv/.dev: requirements-dev.lock pyproject.toml scripts/setup
	PYTHON=$(PYTHON) sh scripts/setup requirements-dev.lock
	@touch .venv/.run $@

# Both databases are tested and reported even if the first run fails; the status tells whether either did.
test: setup ## Run all tests on both databases; T=... names some
	@status=0; \
	$(MAKE) --no-print-directory test-sqlite && sqlite=passed || { sqlite=FAILED; status=1; }; \
	$(MAKE) --no-print-directory test-postgresql && postgresql=passed || { postgresql=FAILED; status=1; }; \
	echo "SQLite: $$sqlite, PostgreSQL: $$postgresql"; \
	exit $$status

test-sqlite: setup
	@sh scripts/browser
	INGOT_TEST_DATABASE=sqlite $(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder $(or $(T),--ignore=tests/conventions)

# What hardly asks a database is run once; so are the faults, which take longest. T=... runs any of it here too.
RUN_ONCE := tests/git tests/conventions tests/markup tests/outgoing tests/faults tests/web tests/browser tests/policy \
	$(addprefix tests/api/kernel/test_,every_scope.py openapi.py parameters.py secrets.py) \
	$(addprefix tests/server/test_,commands.py demo.py progress.py serve.py supervisor.py)

test-postgresql: setup
	INGOT_TEST_DATABASE=postgresql $(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder $(or $(T),$(RUN_ONCE:%=--ignore=%))

# The types take one processor for a while. Another can read all tests meanwhile, which is then done: four processes
# that begin with unread ones would each do it for themselves.
check: setup ## Format, lint, types, layers, conventions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --jobs=2 types rules

types: setup
	$(BIN)/mypy

rules: setup
	$(BIN)/lint-imports
	$(BIN)/pytest tests/conventions
	@said=$$($(BIN)/pytest --collect-only -qq) || { echo "$$said"; exit 1; }

format: setup ## Format the code and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## Measure speed; prints ratios, and what is wanted of them
	$(BIN)/python -m bench

soak: setup ## The long fault tests: 100 rounds where `make test` does two or three
	INGOT_SOAK_ROUNDS=100 INGOT_TEST_DATABASE=sqlite $(BIN)/pytest tests/faults tests/markup/test_hostile.py

migration: setup ## Write the script that takes the schema to the tables as they are; M="what changes"
	$(BIN)/python -m ingot.core.migrations.autogenerate "$(M)"

schema: setup ## Write ingot/core/migrations/newest.sql: what all scripts make of an empty embedded database
	$(BIN)/python -m ingot.core.migrations.schema_dump

access: setup ## Write docs/access.md: who may call what
	{ sed '/^| [A-Z]* | `/d' docs/access.md; $(BIN)/ingot routes --markdown; } > docs/access.new && mv docs/access.new docs/access.md

events: setup ## Write docs/events.md: the subscribers of every event, in order
	$(BIN)/python -m ingot.cli.event_table > docs/events.new && mv docs/events.new docs/events.md

pictures: setup ## Take the pictures in docs/pictures anew
	sh scripts/browser
	$(BIN)/python -m tests.browser.pictures

lock: setup ## Resolve the dependencies anew
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --python-version 3.11 pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --python-version 3.11 --group dev pyproject.toml -o requirements-dev.lock
