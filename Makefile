# Targets for development; `make` without a target lists them.
PYTHON ?= python3
BIN := .venv/bin
T ?=
# If it were set, every process would compile all modules again at startup.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: cluster-test pictures help run setup runner-test test test-all cover docs test-sqlite test-postgresql test-bucket check types rules speed format bench bench-compare costs soak fuzz migration schema access events attributes dashboard index labels advisories lock release

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 20

run: .venv/.run ## Install, migrate and serve on http://127.0.0.1:8080
	$(BIN)/ingot serve

# A .venv of another Python than the one that PYTHON names is created anew.
version_of = $(shell $(1) -c 'import sys; print(sys.version_info[:2])' 2>/dev/null)
ifneq ($(origin PYTHON),file)
ifneq ($(call version_of,$(PYTHON)),$(call version_of,$(BIN)/python))
.venv/.run .venv/.dev: replace-venv
endif
endif

.PHONY: replace-venv
replace-venv:
	$(PYTHON) -c "" && rm -rf .venv

setup: .venv/.dev ## Install all dependencies, including those of tests and checks

.venv/.run: requirements.lock pyproject.toml pytest-ingot/pyproject.toml scripts/setup
	PYTHON=$(PYTHON) sh scripts/setup requirements.lock
	@touch $@

.venv/.dev: requirements-dev.lock pyproject.toml pytest-ingot/pyproject.toml scripts/setup
	PYTHON=$(PYTHON) sh scripts/setup requirements-dev.lock
	@touch .venv/.run $@

# Runs of all tests record the statements that each test executes.
PYTEST = $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder $(if $(T),,-p tests.statement_record)

# Both databases are tested and reported even if the first run fails; the status tells whether either did.
test: setup ## Run all tests on SQLite, and those that PostgreSQL needs on it; T=PATH runs a part on both
	@status=0; rm -rf build/statements; \
	$(MAKE) --no-print-directory test-sqlite && sqlite=passed || { sqlite=FAILED; status=1; }; \
	$(MAKE) --no-print-directory test-postgresql && postgresql=passed || { postgresql=FAILED; status=1; }; \
	$(if $(T),,$(BIN)/python -m tests.statement_cover || status=1;) \
	echo "SQLite: $$sqlite, PostgreSQL: $$postgresql"; \
	exit $$status

test-sqlite: setup
	@sh scripts/browser
	@sh scripts/openssh
	@sh scripts/proxies
	INGOT_TEST_DATABASE=sqlite $(PYTEST) $(or $(T),--ignore=tests/conventions)

# On PostgreSQL run the tests that together execute every statement of the product, and all tests of races, locks,
# permissions and migrations (tests/statement_cover.py). T=PATH runs any test there. POOLER=pgbouncer puts PgBouncer in
# transaction mode in front of the shared server, REPLICA=1 lets a standby serve its reads.
POOLER ?=
REPLICA ?=

test-postgresql: setup
	INGOT_TEST_POOLER=$(POOLER) INGOT_TEST_REPLICA=$(REPLICA) INGOT_TEST_DATABASE=postgresql $(PYTEST) $(or $(T),@tests/postgresql_files.txt)

# Tests that look into directories of repositories are left out (tests/storage/repositories_in_bucket.py).
BUCKET_TESTS = tests/transport tests/api/repository tests/api/merging tests/api/merge_requests tests/api/mirrors \
	tests/api/imports tests/api/wikis tests/ci

test-bucket: setup ## Run the tests of git, merging and CI with repositories in an S3 server; T=PATH runs a part
	INGOT_TEST_REPOSITORIES=bucket INGOT_TEST_DATABASE=$(or $(DATABASE),sqlite) $(PYTEST) $(or $(T),$(BUCKET_TESTS))

test-all: setup ## Run every test on both databases, before a release
	@$(MAKE) --no-print-directory test-sqlite
	@$(MAKE) --no-print-directory test-postgresql T="--ignore=tests/conventions"

ANEW ?=

cover: setup ## Add to the tests that run on PostgreSQL those that the last `make test` found missing; ANEW=1 chooses all
	$(BIN)/python -m tests.statement_cover $(if $(ANEW),anew,add)

# INGOT_TEST_SHARED_DIRECTORIES=/mnt/a:/mnt/b names two mount points of one shared file system.
cluster-test: setup ## Run the tests of several nodes: PostgreSQL, PgBouncer, libfaketime and a shared file system
	INGOT_TEST_DATABASE=postgresql $(BIN)/pytest -v tests/cluster tests/server/test_remote_database.py tests/server/test_rolling_upgrade.py tests/api/races tests/faults/test_stale_files.py

runner-test: setup ## Run pipelines with a gitlab-runner; RUNNER=PATH is its program
	@test -x "$(RUNNER)" || { echo "RUNNER must be the path of a gitlab-runner" >&2; exit 1; }
	INGOT_TEST_RUNNER="$(abspath $(RUNNER))" INGOT_TEST_DATABASE=sqlite $(BIN)/pytest -v tests/ci/own_runner/test_flow.py tests/ci/own_runner/test_flow_details.py tests/ci/own_runner/test_merge_train.py

# mypy uses one core for half a minute; the second job runs meanwhile. Collecting the tests there also compiles them, which
# the four processes of `make test` would otherwise each do.
check: setup ## Check format, lint, types, import layers, conventions, security advisories and speed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --jobs=2 types rules
	@$(MAKE) --no-print-directory speed

types: setup
	$(BIN)/mypy

rules: setup
	$(BIN)/lint-imports
	$(BIN)/python -m tests.conventions.dependency_audit
	$(BIN)/sphinx-build -W --keep-going -q -c docs/site -b dummy docs build/docs-check
	$(BIN)/pytest tests/conventions
	@output=$$($(BIN)/pytest --collect-only -qq) || { echo "$$output"; exit 1; }

# Compares processor times with bench/processor_times.txt, after everything else that uses the processors.
speed: setup
	$(BIN)/python -m bench.guard

docs: setup ## Build the documentation site in build/docs
	$(BIN)/sphinx-build -W --keep-going -q -c docs/site -b dirhtml docs build/docs
	@echo "The site is in build/docs: python3 -m http.server -d build/docs"

format: setup ## Format the code and apply the linter's automatic fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## Run the benchmarks; prints ratios and their targets
	$(BIN)/python -m bench

bench-compare: setup ## Compare processor time per call with another commit: BASE=COMMIT
	@test -n "$(BASE)" || { echo "BASE must name a commit" >&2; exit 1; }
	$(BIN)/python -m bench.compare $(BASE)

costs: setup ## Record the statements, git processes and bytes of frequent calls in tests/call_costs/call_costs.txt
	$(BIN)/python -m tests.call_costs.record

soak: setup ## Run the long fault tests: 100 rounds instead of two or three
	INGOT_SOAK_ROUNDS=100 INGOT_TEST_DATABASE=sqlite $(BIN)/pytest -vv --durations 15 -n 2 --dist worksteal tests/faults tests/storage/test_bucket_repositories.py tests/storage/test_bucket_kills.py tests/markup/test_hostile.py tests/markup/test_lexers.py
	INGOT_SOAK_ROUNDS=100 INGOT_TEST_DATABASE=postgresql $(BIN)/pytest -vv tests/faults/test_stalled_database.py tests/faults/test_kill_trains.py tests/faults/test_kill_train_runner.py tests/faults/test_kill_stacks.py

fuzz: setup ## Send 100,000 random calls to all endpoints; CALLS=N, SEED=N, DATABASE=URL of an empty PostgreSQL database
	$(BIN)/python -m tests.fuzz --calls $(or $(CALLS),100000) --seed $(or $(SEED),1) $(if $(DATABASE),--database-url $(DATABASE))

migration: setup ## Generate a migration from the tables; M="Add a column" is its description
	$(BIN)/python -m ingot.core.migrations.autogenerate "$(M)"

schema: setup ## Generate ingot/core/migrations/newest.sql, the schema for new SQLite databases
	$(BIN)/python -m ingot.core.migrations.schema_dump

access: setup ## Generate docs/access.md: the permission of every endpoint, and their number in README.md and docs/comparison.md
	{ sed '/^| [A-Z]* | `/d' docs/access.md; $(BIN)/ingot routes --markdown; } > docs/access.new && mv docs/access.new docs/access.md
	count=$$($(BIN)/ingot openapi --count) && sed -i -E "s/[0-9,]+ operations/$$count operations/" README.md docs/comparison.md

events: setup ## Generate docs/events.md: the subscribers of every event, in order
	$(BIN)/python -m ingot.cli.event_table > docs/events.new && mv docs/events.new docs/events.md

index: setup ## Generate ingot/core/module_index.txt: the modules of routes, pages and events
	$(BIN)/python -m ingot.cli.module_index > ingot/module_index.new && mv ingot/module_index.new ingot/core/module_index.txt

attributes: setup ## Generate docs/attributes.md: the stored attributes and their effects
	$(BIN)/python -m ingot.cli.attribute_table > docs/attributes.new && mv docs/attributes.new docs/attributes.md

dashboard: setup ## Generate deploy/monitoring/dashboard.json: a panel for Grafana of every metric
	$(BIN)/python -m ingot.cli.metric_dashboard > deploy/monitoring/dashboard.new && mv deploy/monitoring/dashboard.new deploy/monitoring/dashboard.json

labels: setup ## Generate tests/conventions/labels.txt: the labels of all pages
	$(BIN)/python -m tests.conventions.labels

pictures: setup ## Take the screenshots in docs/pictures
	sh scripts/browser
	$(BIN)/python -m tests.browser.pictures

advisories: setup ## Write tests/conventions/advisories.toml from a checkout of the advisory database; D=DIR names it
	$(BIN)/python -m tests.conventions.dependency_audit "$(D)"

release: setup ## Build and check the release of this version in dist/; REHEARSAL=1 accepts a development version
	REHEARSAL=$(REHEARSAL) sh scripts/release

REHEARSAL ?=

COMPILE = $(BIN)/uv pip compile --universal --generate-hashes --no-header --python-version 3.11 --extra acme --extra ldap --extra s3

# The second run keeps the versions of the first, so that tests run with those that a server is installed with.
lock: setup ## Update the lock files
	$(COMPILE) --group dev pyproject.toml -o requirements-dev.lock
	cp requirements-dev.lock requirements.lock
	$(COMPILE) pyproject.toml -o requirements.lock
