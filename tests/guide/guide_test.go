// Package guide tests that the example in docs/writing-an-adapter.md passes the conformance suite of its port.
package guide

import (
	"os"
	"strings"
	"testing"
)

func TestTheGuideShowsTheExampleThatIsRun(t *testing.T) {
	guide, err := os.ReadFile("../../docs/writing-an-adapter.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("internal/newsletter/newsletter.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(example), "\npackage newsletter\n")
	if !found || !strings.Contains(string(guide), "```go\npackage newsletter\n"+code+"```\n") {
		t.Error("docs/writing-an-adapter.md does not show internal/newsletter/newsletter.go as it is")
	}
}
