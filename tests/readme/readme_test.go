// Package readme checks that the code in the documentation is part of programs that compile and run.
package readme_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")
	// importLine is a line of a block that says what its code imports.
	importLine = regexp.MustCompile(`(?m)^[\t /]*// import .*\n`)
	quoted     = regexp.MustCompile(`"[^"]+"`)
)

func TestREADMECodeCompiles(t *testing.T) {
	checkBlocks(t, "../../README.md", "../../app/example_test.go", "fragments_test.go",
		"../../examples/fiber/main.go")
}

func TestIntegrationGuideCodeCompiles(t *testing.T) {
	checkBlocks(t, "../../docs/integration.md", "../../app/example_test.go", "fragments_test.go",
		"../../examples/pgx/signup.go", "../../examples/corrections/main.go",
		"../guide/internal/tenancy/tenancy.go", "../guide/internal/tenancy/tenancy_test.go")
}

func TestTheLinesForEachStackAreRun(t *testing.T) {
	checkBlocks(t, "../../docs/your-stack.md",
		"../stacks/databases_test.go", "../stacks/routers_test.go", "../stacks/transactions_test.go")
}

func TestThePagesForFiberAndForTestsShowCodeThatIsRun(t *testing.T) {
	checkBlocks(t, "../../docs/fiber.md", "../stacks/fiber_test.go")
	checkBlocks(t, "../../docs/testing.md", "../guide/application_test.go")
}

func TestOperatingGuideCodeCompiles(t *testing.T) {
	checkBlocks(t, "../../docs/operating.md", "cliprogram/main.go")
	checkBlocks(t, "../../docs/lint.md", "../../tool/check/startup_example_test.go")
	checkBlocks(t, "../../docs/health.md", "../../adapters/telemetry/doc.go")
}

func TestSeveralServersGuideCodeCompiles(t *testing.T) {
	checkBlocks(t, "../../docs/several-servers.md", "../servers/recipe/silence.go",
		"../servers/recipe/silence_test.go")
}

// checkBlocks checks that each Go block of a page is part of one of the sources. If a source is a doc.go, the block may
// be part of its package comment.
func checkBlocks(t *testing.T, page string, sources ...string) {
	t.Helper()
	examples := ""
	for _, name := range sources {
		source := read(t, name)
		if filepath.Base(name) == "doc.go" {
			source = strings.ReplaceAll(source, "\n//", "\n")
		}
		examples += source
	}
	blocks := goBlock.FindAllStringSubmatch(read(t, page), -1)
	if len(blocks) == 0 {
		t.Fatalf("%s shows no code", page)
	}
	for _, block := range blocks {
		for _, path := range quoted.FindAllString(strings.Join(importLine.FindAllString(block[1], -1), ""), -1) {
			if !strings.Contains(examples, path) {
				t.Errorf("%s: no source imports %s", page, path)
			}
		}
		code := importLine.ReplaceAllString(block[1], "")
		if !strings.Contains(withoutIndentation(importLine.ReplaceAllString(examples, "")), withoutIndentation(code)) {
			t.Errorf("%s: not part of %v:\n%s", page, sources, block[1])
		}
	}
}

func TestTheIntegrationTakesAtMostTenLines(t *testing.T) {
	program, err := os.ReadFile("../../examples/fiber/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, behind, _ := strings.Cut(string(program), "gdpr, err := app.New(")
	integration, _, found := strings.Cut(behind, "gdpr.Lifespan(server)")
	if lines := strings.Count(integration, "\n") + 1; !found || lines > 10 {
		t.Errorf("%d lines:\n%s", lines, integration)
	}
}

func withoutIndentation(code string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
