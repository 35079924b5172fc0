package main

import (
	"os"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/sources"
)

func TestThePageIsUpToDate(t *testing.T) {
	sources.Read(t, "../../..")
	t.Chdir("../../..")
	stored, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var updated strings.Builder
	if err := run(&updated, false); err != nil {
		t.Fatal(err)
	}
	if updated.String() != string(stored) {
		t.Errorf("%s is not up to date: run go generate ./tests/cmd/dependencies", page)
	}
}

func TestPackagesWithTheSameModulesShareARow(t *testing.T) {
	decode := func(path string, deps ...string) linked { return linked{ImportPath: path, Deps: deps} }
	library := linked{ImportPath: "example.org/library/inner"}
	library.Module = &struct {
		Path string
		Main bool
	}{Path: "example.org/library"}
	got := table([]linked{
		library, decode("fmt"), decode(module+"/domain", "fmt"), decode(module+"/ports", "fmt", module+"/domain"),
		decode(module+"/app", "example.org/library/inner"), decode(module+"/app/internal/x", "example.org/library/inner"),
	})
	want := "| Package | Modules that it links |\n|---|---|\n" +
		"| `domain` `ports` | nothing |\n| `app` | `example.org/library` |\n"
	if got != want {
		t.Errorf("got %s", got)
	}
}

func TestAPageWithoutMarksIsRefused(t *testing.T) {
	if _, err := replace("# Dependencies\n", "| x |\n"); err == nil {
		t.Error("no error")
	}
}
