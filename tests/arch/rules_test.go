package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// check returns the violations of a rule by the package in the directory.
type check func(g graph, directory string) []string

// rule forbids some packages of the module to depend on certain other packages.
type rule struct {
	name     string
	packages []string // the rule applies to these packages
	except   []string // the rule does not apply to these packages
	check    check
}

// core are the packages with the rules of habeas. They must not import the packages in technology, such as net/http.
// The rule does not apply to the packages in exceptCore.
var (
	core       = []string{"domain/...", "ports/...", "internal/..."}
	exceptCore = []string{"ports/mocks/...", "ports/porttest/...", "internal/system", "internal/tests/..."}
)

// wing are the packages that engineers and operators use by hand. The rest of the packages for applications must not
// import them.
var wing = []string{"tool/..."}

// wingCore are the packages of the wing with rules. What the core must not import, they must not import either.
var wingCore = []string{"tool/check/...", "tool/scaffold/...", "tool/internal/..."}

// pure are the packages that must not import the packages in technology.
var pure = slices.Concat(core, wingCore)

// engine are the packages that applications link, without the wing.
var engine = []string{"domain/...", "ports/...", "adapters/...", "app/...", "internal/..."}

// users are the packages that applications link.
var users = slices.Concat(engine, wing)

// testTools are packages that only tests and suites may link.
var testTools = []string{"internal/tests/..."}

// suites are the packages with tests that other modules can run against their adapters.
var suites = []string{"ports/porttest/...", "adapters/http/httptestsuite/..."}

// shared are packages that several services (packages below domain) need, because a service must not import another
// service.
var shared = []string{"domain/internal/..."}

// vocabulary are the packages with the types that ports and services have in common.
var vocabulary = []string{
	"domain", "domain/datamap", "domain/observation", "domain/plan", "domain/request", "domain/search",
}

// technology lists packages that the core must not import itself. The core may import fmt and encoding/json, although
// these packages import os.
var technology = []string{"net/http", "database/sql", "log", "os", "io/fs", "syscall"}

var rules = []rule{
	{"the core links no third-party package", pure, exceptCore, links(graph.thirdParty)},
	{"the core imports no technology", pure, exceptCore, imports(under(technology...))},
	{"the core imports no randomness", pure, exceptCore, imports(under("math/rand", "crypto"))},
	{"domain imports nothing of the module", []string{"domain"}, nil, importsOfOurs()},
	{
		"the vocabulary imports only domain and package words", vocabulary[1:],
		[]string{"domain/plan"},
		importsOfOurs("domain", "internal/words"),
	},
	{
		"package plan imports only domain and datamap",
		[]string{"domain/plan"},
		nil,
		importsOfOurs("domain", "domain/datamap"),
	},
	{"ports import only the vocabulary", []string{"ports"}, nil, importsOfOurs(vocabulary...)},
	{
		"services import only the vocabulary, ports and shared packages",
		[]string{"domain/..."},
		slices.Concat(shared, vocabulary),
		importsOfOurs(slices.Concat(shared, vocabulary, []string{"domain/erasure", "ports", "internal/..."})...),
	},
	{"internal packages import nothing of the module", []string{"internal/..."}, testTools, importsOfOurs()},
	{
		"shared packages of services import only the vocabulary, ports and internal packages",
		shared,
		nil,
		importsOfOurs(append(vocabulary, "ports", "internal/...")...),
	},
	{
		"conformance suites need only the core",
		[]string{"ports/porttest/..."},
		nil,
		importsOfOurs(append(core, "ports/porttest/...")...),
	},
	{"conformance suites link no third-party package", []string{"ports/porttest/..."}, nil, links(graph.thirdParty)},
	{"adapters never import app", []string{"adapters/..."}, nil, links(ours("app/..."))},
	{"the engine links nothing of the wing", engine, []string{"app/quickstart"}, links(ours(wing...))},
	{"the wing never imports app, except its program", wing, []string{"tool/habeas"}, links(ours("app/..."))},
	{
		"rules of the wing import only the vocabulary, the planner, ports, internal packages and each other", wingCore,
		nil,
		importsOfOurs(slices.Concat(wingCore, vocabulary, []string{"domain/erasure", "ports", "internal/..."})...),
	},
	{"httpapi links no framework and no database", []string{"adapters/http/httpapi/..."}, nil, links(under(
		"github.com/gofiber", "github.com/valyala/fasthttp", "github.com/uptrace/bun", "database/sql"))},
	{"nethttp links no third-party package", []string{"adapters/http/nethttp"}, nil, links(graph.thirdParty)},
	{"httptestsuite links no third-party package", []string{"adapters/http/httptestsuite"}, nil, links(graph.thirdParty)},
	{"memory links no third-party package", []string{"adapters/persistence/memory"}, nil, links(graph.thirdParty)},
	{"stack links no third-party package", []string{"app/stack"}, nil, links(graph.thirdParty)},
	{
		"bunstore links no PostgreSQL driver",
		[]string{"adapters/persistence/bunstore", "adapters/persistence/bunmodels"},
		nil,
		links(under("github.com/jackc/pgx", "github.com/uptrace/bun/driver/pgdriver", "github.com/lib/pq")),
	},
	{
		"packages syntax and rows link no database",
		[]string{"adapters/persistence/bunstore/internal/syntax", "adapters/persistence/bunstore/internal/rows"},
		nil,
		links(under("database/sql", "net")),
	},
	{
		"package conn imports only domain",
		[]string{"adapters/persistence/bunstore/internal/conn"},
		nil,
		importsOfOurs("domain", "internal/turns"),
	},
	{
		"packages for applications link no packages for tests", users, slices.Concat(suites, testTools),
		links(ours("tests/...", "internal/tests/...")),
	},
	{
		"packages for applications link no test library", users,
		slices.Concat([]string{"ports/mocks/..."}, suites, testTools),
		links(under("pgregory.net/rapid", "github.com/getkin/kin-openapi", "go.uber.org/goleak", "github.com/golang/mock")),
	},
}

// checkAll returns the violations of the rule in the graph, and the number of packages to which the rule applies.
func (r rule) checkAll(g graph) (violations []string, applied int) {
	for _, directory := range g.packages(r.packages...) {
		if matches(directory, r.except) {
			continue
		}
		applied++
		for _, violation := range r.check(g, directory) {
			violations = append(violations, directory+": "+violation)
		}
	}
	return violations, applied
}

// predicate selects import paths.
type predicate func(g graph, importPath string) bool

// under selects the packages whose import path is one of prefixes, and all packages below them.
func under(prefixes ...string) predicate {
	return func(_ graph, importPath string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool {
			return importPath == prefix || strings.HasPrefix(importPath, prefix+"/")
		})
	}
}

// ours selects the packages of this module whose directories match one of the patterns.
func ours(patterns ...string) predicate {
	return func(_ graph, importPath string) bool {
		directory, is := local(importPath)
		return is && matches(directory, patterns)
	}
}

// links returns a check of this rule: a package must not link, directly or indirectly, a package that the predicate
// selects.
func links(picked predicate) check {
	return func(g graph, directory string) (violations []string) {
		for _, dependency := range g.deps(directory) {
			if picked(g, dependency) {
				violations = append(violations, fmt.Sprintf("links %s (%s)", dependency, g.chain(directory, dependency)))
			}
		}
		return violations
	}
}

// imports returns a check of this rule: a package must not directly import a package that the predicate selects.
func imports(picked predicate) check {
	return func(g graph, directory string) (violations []string) {
		for _, imported := range g.imports(directory) {
			if picked(g, imported) {
				violations = append(violations, "imports "+imported)
			}
		}
		return violations
	}
}

// importsOfOurs returns a check of this rule: a package must not directly import a package of this module that is not
// in the allowed list.
func importsOfOurs(allowed ...string) check {
	return imports(func(_ graph, importPath string) bool {
		directory, is := local(importPath)
		return is && !matches(path.Clean(directory), allowed)
	})
}
