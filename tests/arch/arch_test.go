package arch

import (
	"slices"
	"strings"
	"testing"
)

func TestPackagesKeepTheRules(t *testing.T) {
	loaded := load(t)
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			violations, applied := rule.checkAll(loaded)
			for _, violation := range violations {
				t.Error(violation)
			}
			if applied == 0 {
				t.Errorf("no package matches %v: the rule applies to nothing", rule.packages)
			}
		})
	}
}

// Each case is a graph of packages that breaks one rule. The check of this rule must report the violation.
func TestRulesCatchWhatTheyForbid(t *testing.T) {
	at := func(directory string) string { return module + "/" + directory }
	for name, test := range map[string]struct {
		from, to string
		want     string
	}{
		"third party in the domain": {at("domain"), "github.com/google/uuid", "the core links no third-party package"},
		"third party in a service": {
			at("domain/saga"), "github.com/google/uuid", "the core links no third-party package",
		},
		"third party in ports":         {at("ports"), "github.com/google/uuid", "the core links no third-party package"},
		"os in a service":              {at("domain/export"), "os", "the core imports no technology"},
		"os/exec in a service":         {at("domain/export"), "os/exec", "the core imports no technology"},
		"slog in ports":                {at("ports"), "log/slog", "the core imports no technology"},
		"log in the domain":            {at("domain"), "log", "the core imports no technology"},
		"database/sql/driver in ports": {at("ports"), "database/sql/driver", "the core imports no technology"},
		"io/fs in the domain":          {at("domain"), "io/fs", "the core imports no technology"},
		"syscall in the domain":        {at("domain"), "syscall", "the core imports no technology"},
		"randomness":                   {at("domain"), "math/rand/v2", "the core imports no randomness"},
		"domain on ports":              {at("domain"), at("ports"), "domain imports nothing of the module"},
		"domain on the data map":       {at("domain"), at("domain/datamap"), "domain imports nothing of the module"},
		"the data map on ports": {
			at("domain/datamap"), at("ports"), "the vocabulary imports only domain and package words",
		},
		"package plan on ports": {at("domain/plan"), at("ports"), "package plan imports only domain and datamap"},
		"an internal package on domain": {
			at("internal/detach"), at("domain"), "internal packages import nothing of the module",
		},
		"net/http in an internal package": {at("internal/detach"), "net/http", "the core imports no technology"},
		"ports on a service":              {at("ports"), at("domain/saga"), "ports import only the vocabulary"},
		"a service on another": {
			at("domain/export"), at("domain/saga"), "services import only the vocabulary, ports and shared packages",
		},
		"a service on mocks": {
			at("domain/export"), at("ports/mocks"), "services import only the vocabulary, ports and shared packages",
		},
		"a shared part on a service": {
			at("domain/internal/audit"), at("domain/saga"),
			"shared packages of services import only the vocabulary, ports and internal packages",
		},
		"a suite on an adapter": {
			at("ports/porttest"), at("adapters/worker"), "conformance suites need only the core",
		},
		"a suite on a library": {
			at("ports/porttest"), "pgregory.net/rapid", "conformance suites link no third-party package",
		},
		"an adapter on app":      {at("adapters/worker"), at("app"), "adapters never import app"},
		"a service on the wing":  {at("domain/saga"), at("tool/internal/facts"), "the engine links nothing of the wing"},
		"an adapter on the wing": {at("adapters/worker"), at("tool/cli"), "the engine links nothing of the wing"},
		"app on the wing":        {at("app/stack"), at("tool/check"), "the engine links nothing of the wing"},
		"the wing on app":        {at("tool/cli"), at("app"), "the wing never imports app, except its program"},
		"net/http in the wing":   {at("tool/check"), "net/http", "the core imports no technology"},
		"a library in the wing":  {at("tool/scaffold"), "github.com/google/uuid", "the core links no third-party package"},
		"randomness in the wing": {at("tool/internal/facts"), "math/rand/v2", "the core imports no randomness"},
		"a rule of the wing on an adapter": {
			at("tool/check"), at("adapters/persistence/memory"),
			"rules of the wing import only the vocabulary, the planner, ports, internal packages and each other",
		},
		"fiber in httpapi": {
			at("adapters/http/httpapi"), "github.com/gofiber/fiber/v2", "httpapi links no framework and no database",
		},
		"fiber in nethttp": {
			at("adapters/http/nethttp"), "github.com/gofiber/fiber/v2", "nethttp links no third-party package",
		},
		"a library in the HTTP suite": {
			at("adapters/http/httptestsuite"), "pgregory.net/rapid", "httptestsuite links no third-party package",
		},
		"bun in memory": {
			at("adapters/persistence/memory"), "github.com/uptrace/bun", "memory links no third-party package",
		},
		"bun in stack": {at("app/stack"), "github.com/uptrace/bun", "stack links no third-party package"},
		"pgx in bunstore": {
			at("adapters/persistence/bunstore"), "github.com/jackc/pgx/v5/pgconn", "bunstore links no PostgreSQL driver",
		},
		"bun in the text of statements": {
			at("adapters/persistence/bunstore/internal/syntax"), "database/sql", "packages syntax and rows link no database",
		},
		"a statement where statements are sent": {
			at("adapters/persistence/bunstore/internal/conn"), at("adapters/persistence/bunstore/internal/syntax"),
			"package conn imports only domain",
		},
		"the tests' server in an adapter": {
			at("adapters/worker"), at("internal/tests/postgres"), "packages for applications link no packages for tests",
		},
		"goleak in app": {at("app"), "go.uber.org/goleak", "packages for applications link no test library"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := graph{
				test.from: {ImportPath: test.from, Imports: []string{test.to}, Deps: []string{test.to}},
				test.to:   {ImportPath: test.to},
			}
			if first, _, _ := strings.Cut(test.to, "/"); !strings.Contains(first, ".") {
				broken[test.to] = pkg{ImportPath: test.to, Standard: true}
			}
			position := slices.IndexFunc(rules, func(r rule) bool { return r.name == test.want })
			if position < 0 {
				t.Fatalf("there is no rule %q", test.want)
			}
			violations, _ := rules[position].checkAll(broken)
			if len(violations) != 1 {
				t.Fatalf("violations = %q, want one", violations)
			}
			t.Log(violations[0])
		})
	}
}

// The core must not import os itself. It may import fmt and encoding/json, although these packages import os.
func TestTheCoreMayImportWhatLinksTechnology(t *testing.T) {
	directory := module + "/domain"
	for _, imported := range []string{"fmt", "encoding/json"} {
		g := graph{
			directory: {ImportPath: directory, Imports: []string{imported}, Deps: []string{imported, "os"}},
			imported:  {ImportPath: imported, Standard: true, Imports: []string{"os"}, Deps: []string{"os"}},
			"os":      {ImportPath: "os", Standard: true},
		}
		for _, r := range rules {
			if violations, _ := r.checkAll(g); len(violations) > 0 {
				t.Errorf("%s: %q", r.name, violations)
			}
		}
	}
}

func TestAViolationNamesTheWay(t *testing.T) {
	g := graph{
		module + "/domain": {Imports: []string{"errors", "fmt"}, Deps: []string{"errors", "fmt", "os"}},
		"fmt":              {Standard: true, Imports: []string{"os"}},
	}
	if got, want := g.chain("domain", "os"), module+"/domain -> fmt -> os"; got != want {
		t.Errorf("chain = %s, want %s", got, want)
	}
}
