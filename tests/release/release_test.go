package release

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shop is an application that knows habeas only as a requirement.
const shop = `package main

import (
	"fmt"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/adapters/telemetry"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain/datamap"
)

func main() {
	observer, err := telemetry.New(telemetry.Options{})
	if err != nil {
		panic(err)
	}
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	if err != nil {
		panic(err)
	}
	store, err := memory.New(dataMap, memory.Options{})
	if err != nil {
		panic(err)
	}
	if _, err := stack.New(stack.Config{
		Sessions: store, DataMap: dataMap, Options: stack.Options{Observer: observer},
	}); err != nil {
		panic(err)
	}
	fmt.Println("works")
}
`

// One test for both, because they share the compiled packages.
func TestAReleaseCanBeInstalledAndRequired(t *testing.T) {
	directory := t.TempDir()
	proxy := filepath.Join(directory, "proxy")
	for _, nested := range []string{"", "adapters/telemetry"} {
		publish(t, proxy, nested)
	}
	command := newGo(t, directory, proxy)

	command(directory, "go", "install", module+"/tool/habeas@"+version)
	if got := command(directory, filepath.Join(directory, "bin", "habeas"), "version"); !strings.Contains(got, version) {
		t.Errorf("the program has the version %q", got)
	}

	application := filepath.Join(directory, "shop")
	if err := os.Mkdir(application, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(application, "main.go"), []byte(shop), 0o600); err != nil {
		t.Fatal(err)
	}
	command(application, "go", "mod", "init", "example.org/shop")
	command(application, "go", "get", module+"/adapters/telemetry@"+version) // requires the library of the same version
	command(application, "go", "get", module+"@"+version)
	command(application, "go", "get", ".")
	if got := command(application, "go", "run", "."); got != "works\n" {
		t.Errorf("the application printed %q", got)
	}
}

// newGo returns a function that runs a command with an empty module cache. The requirements come from the module cache
// of the machine, or from its usual proxy. Paths are trimmed, so that the compiled packages of the last run fit.
func newGo(t *testing.T, directory, proxy string) func(where string, arguments ...string) (output string) {
	t.Helper()
	variables, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, usual, _ := strings.Cut(strings.TrimSpace(string(variables)), "\n")
	environment := append(os.Environ(),
		"GOMODCACHE="+filepath.Join(directory, "cache"), "GOBIN="+filepath.Join(directory, "bin"),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(cache)+"/cache/download,"+usual,
		"GOSUMDB=off", "GOWORK=off", "GOFLAGS=-modcacherw -trimpath -buildvcs=false",
	)
	return func(where string, arguments ...string) string {
		t.Helper()
		run := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
		run.Dir, run.Env = where, environment
		var problems bytes.Buffer
		run.Stderr = &problems
		output, err := run.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, problems.String())
		}
		return string(output)
	}
}
