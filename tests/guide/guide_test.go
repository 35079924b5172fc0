// Package guide tests that the examples in the pages docs/writing-*.md compile, and pass the conformance suites.
package guide

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// Each Go block of the pages must be part of a tested file, unless it is a sketch with "{ ... }".
func TestThePagesShowCodeThatIsRun(t *testing.T) {
	var tested strings.Builder
	for _, name := range []string{
		"../../examples/external/newsletter/newsletter.go", "internal/router/router.go", "internal/router/router_test.go",
	} {
		tested.WriteString(unindented(read(t, name)))
	}
	pages, err := filepath.Glob("../../docs/writing-*.md")
	if err != nil || len(pages) != 3 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		blocks := goBlock.FindAllStringSubmatch(read(t, page), -1)
		if len(blocks) == 0 {
			t.Errorf("%s shows no code", page)
		}
		for _, block := range blocks {
			if !strings.Contains(block[1], "{ ... }") && !strings.Contains(tested.String(), unindented(block[1])) {
				t.Errorf("%s: the code is part of no tested file:\n%s", page, block[1])
			}
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func unindented(code string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
