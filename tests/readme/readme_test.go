// Package readme holds the README to the code: what it shows must be part of an example that compiles.
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
	for _, name := range []string{"example_test.go", "example_pgx_test.go"} {
		file, err := os.ReadFile("../../app/" + name)
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
			t.Errorf("not part of the examples of app:\n%s", block[1])
		}
	}
}

func TestTheIntegrationTakesAtMostTenLines(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "## Integrate it")
	block := goBlock.FindStringSubmatch(section)
	if lines := strings.Count(block[1], "\n"); !strings.Contains(block[1], "gdpr.Router(") || lines > 10 {
		t.Errorf("%d lines:\n%s", lines, block[1])
	}
}

func withoutIndentation(code string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
