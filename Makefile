# Every target works on a fresh clone: tools are pinned in tools/go.mod and built when first used.

WITH_POSTGRES = go run ./tests/cmd/withpostgres --
TOOL          = go tool -modfile=tools/go.mod
TEST_TIMEOUT  = 10m
TEST_FLAGS    =
BENCH_FLAGS   =
PACKAGES      = ./...

# Tests that are killed from outside still leave no server behind; see tests/postgres.
define run-tests
	@marker=$$(mktemp) && trap 'rm -f "$$marker"' EXIT && \
	HABEAS_TEST_POSTGRES_MARKER="$$marker" $(WITH_POSTGRES) \
		go test $(1) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) $(PACKAGES) && \
	databases=$$(($$(wc -l <"$$marker"))) && \
	if [ "$$databases" -eq 0 ]; then echo "FAIL: no PostgreSQL test ran" >&2; exit 1; fi && \
	echo "PASS: the PostgreSQL tests ran, in $$databases databases"
endef

.PHONY: help test test-quick lint generate tidy check-generate walkthrough bench bench-quick ci postgres

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: postgres ## Run all tests with the race detector; PostgreSQL tests run or fail, they never skip
	$(call run-tests,-race)

test-quick: postgres ## Run all tests without the race detector
	$(call run-tests)

# The linter's cache remembers where files were: shared by two clones, it reports the other one's, and exclusions miss.
lint: export GOLANGCI_LINT_CACHE = $(CURDIR)/bin/golangci-lint-cache
lint: ## Run golangci-lint
	$(TOOL) golangci-lint run $(PACKAGES)

generate: ## Regenerate the mocks
	go generate ./...

tidy: ## Tidy the modules
	go mod tidy
	go -C tools mod tidy

check-generate: generate tidy ## Fail if generate or tidy changes a file, or leaves one that is not committed
	git diff --exit-code
	@untracked=$$(git ls-files --others --exclude-standard) && \
	if [ -n "$$untracked" ]; then printf 'FAIL: not committed:\n%s\n' "$$untracked" >&2; exit 1; fi

walkthrough: ## Take the quickstart application through every right, and print what happens
	go run ./app/quickstart -walkthrough

# A module of its own; the program is built first, so that a signal reaches it and not the go command.
define run-bench
	go -C tests/bench test ./...
	go -C tests/bench build -o $(CURDIR)/bin/bench .
	exec bin/bench $(1) $(BENCH_FLAGS)
endef

bench: postgres ## Measure habeas against hand-written code, and write docs/benchmarks; takes about 10 minutes
	$(call run-bench,-markdown docs/benchmarks)

bench-quick: postgres ## The same in brief, and nothing written; its last lines are for programs
	$(call run-bench,-quick)

ci: ## Run everything that a change has to pass
	bash .ci/run

postgres:
	@.ci/ensure-postgres
