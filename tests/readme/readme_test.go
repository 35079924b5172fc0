// Package readme checks that the code in the README is part of an example that compiles.
package readme_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

func TestWhatTheREADMEShowsCompiles(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := ""
	for _, name := range []string{
		"../../app/example_test.go", "fiberprogram/main.go", "httpprogram/main.go", "pgxprogram/main.go",
	} {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		examples += string(file)
	}
	blocks := goBlock.FindAllStringSubmatch(string(readme), -1)
	if len(blocks) == 0 {
		t.Fatal("the README shows no code")
	}
	for _, block := range blocks {
		if !strings.Contains(withoutIndentation(examples), withoutIndentation(block[1])) {
			t.Errorf("not part of an example or of a program here:\n%s", block[1])
		}
	}
}

func TestTheIntegrationTakesAtMostTenLines(t *testing.T) {
	program, err := os.ReadFile("fiberprogram/main.go")
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
