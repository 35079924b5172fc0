# Every target works on a fresh clone: tools are pinned in .ci/tools and built when first used.

WITH_POSTGRES = go run ./tests/cmd/withpostgres --
TEST_TIMEOUT  = 10m
TEST_FLAGS   ?=
BENCH_FLAGS   =
PACKAGES      = ./...

# The databases of tests are created and dropped by the hundred. In memory, that costs no disk, and half the time.
MEMORY = /dev/shm
IN_MEMORY := $(shell .ci/in-memory $(MEMORY))
ifneq ($(IN_MEMORY),)
export TMPDIR = $(IN_MEMORY)
endif

# SQLite is C that was translated to Go: under the race detector it is twenty times slower, and its threads are its own.
# The driver around it, and all else, is watched.
RACE_FLAGS = -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc/...=-race=false
# A program with the race detector sleeps before it exits, by default for a second.
export GORACE = atexit_sleep_ms=50

# These packages test the source code, schemas, programs that they build, suites that they break, numbers of
# allocations, and what a session does to a database. Goroutines meet in the other packages.
SEQUENTIAL = tests/schemas tool/scaffold tool/check tests/lives adapters/http/httptestsuite ports/porttest tests/arch \
	tests/budget tests/cmd/apitext tests/cmd/dependencies tests/cookbook tests/firsterasure tests/isolation tests/maps \
	tests/release
# These packages take five times as long with the race detector. "make test" runs them without it; "make test-race"
# runs them with it, and so does "make test-newest".
STORES = adapters/persistence/bunstore tests/internal/conformance
# The tests of how servers are started and stopped. They start dozens of servers.
HARNESS = internal/tests/postgres
# Go starts packages in this order, so that no long one is left alone at the end.
LONGEST = ./adapters/http/fiberhttp ./adapters/http/nethttp
CONCURRENT = $(LONGEST) $$(go list ./... | grep -vFx $(SEQUENTIAL:%=-e github.com/habeas-data/habeas/%) $(STORES:%=-e github.com/habeas-data/habeas/%) -e github.com/habeas-data/habeas/$(HARNESS))
# "make test" draws fewer schemas than "make test-isolation".
ISOLATION_CHECKS = 25

# Modules of their own: what they need never enters the library's go.mod.
NESTED = adapters/objectstore adapters/telemetry examples/gin examples/gorm \
	tests/pgdriver tests/mattn tests/bench tests/servers tests/objectstore tests/openapi tests/stacks

# The tests of a module and of packages in it, and the proof that there were PostgreSQL tests among them. With a third
# argument, they run without the race detector.
define test-module
	@marker=$$(mktemp) && trap 'rm -f "$$marker"' EXIT && \
	HABEAS_TEST_POSTGRES_MARKER="$$marker" go -C $(1) test $(if $(3),,$(RACE)) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) $(2) && \
	databases=$$(($$(wc -l <"$$marker"))) && \
	if [ "$$databases" -eq 0 ]; then echo "FAIL: no PostgreSQL test ran in module $(1)" >&2; exit 1; fi && \
	echo "PASS: the PostgreSQL tests of module $(1) ran, in $$databases databases"
endef

# The packages whose tests use PostgreSQL, but for those that test how servers are started.
POSTGRES_PACKAGES = $$(go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | \
	grep -E 'habeas/(internal/tests/(postgres|databases)|tests/internal/conformance)[] ]' | cut -d' ' -f1 | \
	grep -vE 'habeas/(tests/cmd|internal/tests/postgres)')

.PHONY: help vet test-newest test-modules-newest test test-quick test-modules test-concurrent test-sequential test-race test-drivers test-modules-of-drivers test-isolation test-random test-release test-mutants test-packages test-servers test-several test-oldest test-versions test-version lint generate tidy check-generate api vulnerabilities walkthrough bench bench-quick ci postgres

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One server for all modules. Tests that are killed from outside still leave none behind; see internal/tests/postgres.
test: postgres ## Run all tests, with the race detector where goroutines meet; PostgreSQL tests never skip
	@$(WITH_POSTGRES) $(MAKE) --no-print-directory test-modules RACE="$(RACE_FLAGS)"

test-quick: postgres ## Run all tests without the race detector
	@$(WITH_POSTGRES) $(MAKE) --no-print-directory test-modules

# Two at a time: while one waits for its database or its linker, the other runs. Both take equally long.
test-modules:
	@$(MAKE) --no-print-directory -j 2 test-concurrent test-sequential

test-concurrent:
	$(call test-module,.,$(CONCURRENT))
	$(call test-module,examples/gin,./...,sequential)
	$(call test-module,examples/gorm,./...,sequential)
	$(call test-module,tests/stacks,./...,sequential)
	go -C tests/openapi test $(RACE) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./...
	go -C adapters/objectstore test $(RACE) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./...
	go -C adapters/telemetry test $(RACE) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./...

test-sequential:
	$(call test-module,.,$(STORES:%=./%) $(filter-out %/isolation %/release,$(SEQUENTIAL:%=./%)),sequential)
	$(call test-module,.,./tests/isolation -rapid.checks=$(ISOLATION_CHECKS),sequential)

test-race: postgres ## Run the stores' tests with the race detector; "make test" runs them without it
	@$(WITH_POSTGRES) $(MAKE) --no-print-directory test-packages PACKAGES="$(STORES:%=./%)" RACE="$(RACE_FLAGS)"

test-drivers: postgres ## Run the stores' suites on other drivers, and each benchmark in miniature
	@$(WITH_POSTGRES) $(MAKE) --no-print-directory test-modules-of-drivers

test-modules-of-drivers:
	$(call test-module,tests/pgdriver,./...)
	go -C tests/mattn test -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./...
	go -C tests/bench test -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./...

test-isolation: postgres ## Run the tests of generated schemas and of random events with more schemas and events than "make test"
	@$(WITH_POSTGRES) $(MAKE) --no-print-directory test-random

test-random:
	$(call test-module,.,./tests/isolation)
	$(call test-module,.,./tests/lives -rapid.checks=200)

test-release: ## Test that the program and the library can be installed from an empty module cache
	go test -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./tests/release

# gremlins changes one operator at a time, in copies of the module, and runs the suites of the storage ports on each
# mutant. Its module is its own, because the linter needs older versions of its libraries. The files schema.go and
# value.go have no rules of a port. MUTANTS="-E rows -E find" leaves out further files.
MUTATIONS = --invert-logical --invert-loopctrl --invert-assignments --timeout-coefficient 10 -E '(schema|value)[.]go$$'
MUTANTS =

test-mutants: export GOFLAGS = $(shell go env GOFLAGS) -trimpath -count=1 -run=TestConformance
test-mutants: ## Change each operator in the store in memory: a case of the suites must fail; takes half an hour
	GOFLAGS= go build -modfile=.ci/tools/mutants/go.mod -o bin/gremlins github.com/go-gremlins/gremlins/cmd/gremlins
	bin/gremlins unleash $(MUTATIONS) $(MUTANTS) -o bin/mutants.json adapters/persistence/memory
	GOFLAGS= go run ./tests/cmd/mutants bin/mutants.json

vet: ## Compile every module, tests included, and run go vet on it
	@for module in . $(NESTED); do echo "go vet: module $$module"; go -C $$module vet ./... || exit; done

# go.mod names the lowest versions that work and have no known advisories, and "make test" proves that they work. These
# are the newest.
NEWEST = github.com/uptrace/bun@v1.3.0 \
	github.com/uptrace/bun/dialect/pgdialect@v1.3.0 \
	github.com/uptrace/bun/dialect/sqlitedialect@v1.3.0 \
	github.com/gofiber/fiber/v2@v2.52.15 \
	github.com/jackc/pgx/v5@v5.12.0 \
	github.com/go-resty/resty/v2@v2.17.2 \
	github.com/spf13/cobra@v1.10.2 \
	github.com/google/uuid@v1.6.0

# Only what stands on these modules, and the routers, are tested again: the stores with the race detector, because "make
# test" runs them without it, and the other packages without it, because the routers then have all their configurations.
NEWEST_PACKAGES = ./adapters/persistence/bunmodels ./adapters/persistence/bunstore/internal/... \
	./adapters/persistence/bunstore/pgxlisten ./adapters/persistence/manifest ./adapters/http/fiberhttp \
	./adapters/http/nethttp \
	./adapters/supportdesk ./app/... ./tool/cli ./tool/habeas ./tests/acceptance

test-newest: export HABEAS_TEST_DATABASE_URL =
test-newest: export HABEAS_TEST_POSTGRES_VERSION = $(lastword $(VERSIONS))
test-newest: ## Run the adapters' tests on the newest versions of what go.mod requires and of PostgreSQL, the stores with the race detector
	@.ci/ensure-postgres servers
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT && \
	cp go.mod go.sum "$$directory" && export GOFLAGS="$$(go env GOFLAGS) -modfile=$$directory/go.mod" && \
	go mod edit $(NEWEST:%=-require=%) "$$directory/go.mod" && go mod tidy && go build ./... && \
	$(WITH_POSTGRES) $(MAKE) --no-print-directory test-modules-newest

test-modules-newest:
	$(call test-module,.,$(NEWEST_PACKAGES))
	@$(MAKE) --no-print-directory test-packages PACKAGES="$(STORES:%=./%)" RACE="$(RACE_FLAGS)"

test-packages:
	$(call test-module,.,$(PACKAGES))

# This test measures one second, so "make test-servers" runs it alone.
WITHIN_A_SECOND = WithinASecond$$
# All servers are the tests' own here, so that a database that is supplied would only hide that some cannot be had.
test-servers: export HABEAS_TEST_DATABASE_URL =
test-servers: ## Run what takes several servers: PgBouncer, failover, replicas, S3, and the store on the oldest PostgreSQL
	@.ci/ensure-postgres servers
	go -C tests/servers test -count=1 -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) -run '$(WITHIN_A_SECOND)' .
	@$(MAKE) --no-print-directory -j 2 test-several test-oldest

# These tests mostly wait: for a server that starts, or that is lost.
test-several:
	go test -count=1 -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./$(HARNESS)
	$(call test-module,tests/servers,-count=1 -skip '$(WITHIN_A_SECOND)' ./...)
	go -C tests/objectstore test -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) ./...

test-oldest:
	@$(MAKE) --no-print-directory test-versions VERSIONS="$(firstword $(VERSIONS))" \
		POSTGRES_PACKAGES=./adapters/persistence/bunstore/...

# Servers of each version are fetched once, and kept in the user's cache directory.
VERSIONS = 14 15 16 17 18

test-versions: export HABEAS_TEST_DATABASE_URL =
test-versions: postgres ## Run all PostgreSQL tests on each version; VERSIONS="16 17" chooses
	@for version in $(VERSIONS); do \
		echo "PostgreSQL $$version"; \
		HABEAS_TEST_POSTGRES_VERSION=$$version $(WITH_POSTGRES) $(MAKE) --no-print-directory test-version || exit; \
	done

test-version:
	$(call test-module,.,-count=1 -skip '/SQLite' $(POSTGRES_PACKAGES))
	$(call test-module,tests/pgdriver,-count=1 ./...)

# The linter's cache remembers where files were: shared by two clones, it reports the other one's, and exclusions miss.
lint: export GOLANGCI_LINT_CACHE = $(CURDIR)/bin/golangci-lint-cache
# In one workspace, the linter analyzes what the modules share only once. go tool -modfile does not work in workspaces.
lint: ## Run golangci-lint on all modules
	go build -modfile=.ci/tools/go.mod -o bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	rm -f bin/go.work && cd bin && GOWORK=off go work init .. $(NESTED:%=../%)
	GOWORK=$(CURDIR)/bin/go.work bin/golangci-lint run ./... $(NESTED:%=./%/...)

generate: ## Regenerate the mocks, the text of the API, the table of dependencies and the recordings
	go generate ./...

tidy: ## Tidy the modules
	for module in . .ci/tools .ci/tools/mutants $(NESTED); do go -C $$module mod tidy || exit; done

check-generate: generate tidy ## Fail if generate or tidy changes a file, or leaves one that is not committed
	git diff --exit-code
	@untracked=$$(git ls-files --others --exclude-standard) && \
	if [ -n "$$untracked" ]; then printf 'FAIL: not committed:\n%s\n' "$$untracked" >&2; exit 1; fi

# The API of the last release is the file .ci/api.txt of its tag. Before the first release, there is nothing to compare.
SINCE = $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)

api: ## Fail if the API lacks a declaration of the last release, and the changelog does not announce it
ifeq ($(SINCE),)
	@echo "api: there is no release yet"
else
	@before=$$(mktemp) && trap 'rm -f "$$before"' EXIT && git show $(SINCE):.ci/api.txt >"$$before" && \
	echo "api: comparing with $(SINCE)" && go run ./tests/cmd/apitext -since "$$before"
endif

# Each package that is imported counts, whether or not the code calls the function that has the defect: an application
# may call it. The database is at vuln.go.dev, which .ci/run does without; VULNERABILITY_FLAGS=-db=... names another one.
VULNERABILITY_FLAGS =

vulnerabilities: ## Fail if a module imports a package, in tests too, that has a known advisory; downloads the database
	@for module in . $(NESTED); do echo "govulncheck: module $$module"; \
		go -C $$module tool -modfile=$(CURDIR)/.ci/tools/go.mod govulncheck $(VULNERABILITY_FLAGS) -scan=package -test ./... || \
		exit; \
	done

walkthrough: ## Take the quickstart application through every right, and print what happens
	go run ./app/quickstart -walkthrough

# A module of its own; the program is built first, so that a signal reaches it and not the go command.
define run-bench
	go -C tests/bench build -o $(CURDIR)/bin/bench .
	cd tests/bench && exec $(CURDIR)/bin/bench $(1) $(BENCH_FLAGS)
endef

bench: postgres ## Measure habeas against other code, and write docs/benchmarks; takes about 30 minutes
	go -C tests/bench test ./...
	$(call run-bench,-markdown ../../docs/benchmarks)

bench-quick: postgres ## The same in brief, without bad days, and nothing written; its last lines are for programs
	$(call run-bench,-quick)

ci: ## Run everything that a change has to pass
	bash .ci/run

postgres:
	@.ci/ensure-postgres
