// Package guide tests that the examples in docs/writing-an-adapter.md compile, and pass the conformance suites.
package guide

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// Each Go block of the guide must be part of a tested file, unless it is a sketch with "{ ... }".
func TestTheGuideShowsCodeThatIsRun(t *testing.T) {
	var files []string
	for _, name := range []string{
		"newsletter/newsletter.go", "newsletter/optional.go", "router/router.go", "router/router_test.go",
		"tenancy/tenancy.go", "tenancy/tenancy_test.go",
	} {
		files = append(files, read(t, "internal/"+name))
	}
	complete := 0
	for _, block := range goBlock.FindAllStringSubmatch(read(t, "../../docs/writing-an-adapter.md"), -1) {
		code := block[1]
		switch {
		case strings.Contains(code, "{ ... }"):
		case strings.HasPrefix(code, "package "):
			complete++
			if !isEndOfAny(files, code) {
				t.Errorf("the guide does not show a complete file:\n%s", code)
			}
		case !strings.Contains(unindented(strings.Join(files, "\n")), unindented(code)):
			t.Errorf("the code is not part of %d files:\n%s", len(files), code)
		}
	}
	if complete != 4 {
		t.Errorf("the guide shows %d complete files, want 4", complete)
	}
}

// isEndOfAny reports whether a code block equals one of the files. The file may also begin with a package comment.
func isEndOfAny(files []string, code string) bool {
	for _, file := range files {
		if before, found := strings.CutSuffix(file, code); found && !strings.Contains(before, "\npackage ") {
			return true
		}
	}
	return false
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
