# Every target works on a fresh clone: tools are pinned in tools/go.mod and built when first used.

WITH_POSTGRES = go run ./tests/cmd/withpostgres --
TOOL          = go tool -modfile=tools/go.mod
TEST_TIMEOUT  = 10m
TEST_FLAGS    =
BENCH_FLAGS   =
PACKAGES      = ./...

# Modules of their own: what they need never enters the library's go.mod.
NESTED = tests/pgdriver tests/mattn tests/bench

# The tests of a module and of packages in it, and the proof that there were PostgreSQL tests among them.
define test-module
	@marker=$$(mktemp) && trap 'rm -f "$$marker"' EXIT && \
	HABEAS_TEST_POSTGRES_MARKER="$$marker" go -C $(1) test $(RACE) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) $(2) && \
	databases=$$(($$(wc -l <"$$marker"))) && \
	if [ "$$databases" -eq 0 ]; then echo "FAIL: no PostgreSQL test ran in module $(1)" >&2; exit 1; fi && \
	echo "PASS: the PostgreSQL tests of module $(1) ran, in $$databases databases"
endef

.PHONY: help test test-quick test-modules lint generate tidy check-generate walkthrough bench bench-quick bench-growth ci postgres

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One server for all modules. Tests that are killed from outside still leave none behind; see tests/postgres.
test: postgres ## Run all tests with the race detector; PostgreSQL tests run or fail, they never skip
	@$(WITH_POSTGRES) $(MAKE) --no-print-directory test-modules RACE=-race

test-quick: postgres ## Run all tests without the race detector
	@$(WITH_POSTGRES) $(MAKE) --no-print-directory test-modules

test-modules:
	$(call test-module,.,$(PACKAGES))
	$(call test-module,tests/pgdriver,./...)
	go -C tests/mattn test $(RACE) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./...
	go -C tests/bench test -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./...

# The linter's cache remembers where files were: shared by two clones, it reports the other one's, and exclusions miss.
lint: export GOLANGCI_LINT_CACHE = $(CURDIR)/bin/golangci-lint-cache
lint: ## Run golangci-lint
	$(TOOL) golangci-lint run $(PACKAGES)
	for module in $(NESTED); do \
		go -C $$module tool -modfile=$(CURDIR)/tools/go.mod golangci-lint run --config $(CURDIR)/.golangci.yml ./... || exit; \
	done

generate: ## Regenerate the mocks
	go generate ./...

tidy: ## Tidy the modules
	for module in . tools $(NESTED); do go -C $$module mod tidy || exit; done

check-generate: generate tidy ## Fail if generate or tidy changes a file, or leaves one that is not committed
	git diff --exit-code
	@untracked=$$(git ls-files --others --exclude-standard) && \
	if [ -n "$$untracked" ]; then printf 'FAIL: not committed:\n%s\n' "$$untracked" >&2; exit 1; fi

walkthrough: ## Take the quickstart application through every right, and print what happens
	go run ./app/quickstart -walkthrough

# A module of its own; the program is built first, so that a signal reaches it and not the go command.
define run-bench
	go -C tests/bench build -o $(CURDIR)/bin/bench .
	cd tests/bench && exec $(CURDIR)/bin/bench $(1) $(BENCH_FLAGS)
endef

bench: postgres ## Measure habeas against other code and as tables grow, and write docs/benchmarks; takes about 20 minutes
	go -C tests/bench test ./...
	$(call run-bench,-markdown ../../docs/benchmarks)

bench-quick: postgres ## The same in brief, but for growth, and nothing written; its last lines are for programs
	$(call run-bench,-quick)

bench-growth: postgres ## Measure what grows with the tables alone; for more: BENCH_FLAGS="-rows 10000,10000000 -limit 2h"
	$(call run-bench,-parts growth)

ci: ## Run everything that a change has to pass
	bash .ci/run

postgres:
	@.ci/ensure-postgres
