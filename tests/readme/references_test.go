package readme_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A page that lists the words of a source has each of them, in backquotes.
func TestPagesListEveryWordOfTheCode(t *testing.T) {
	for _, c := range []struct{ page, source, word string }{
		{"audit-events.md", "domain/audit.go", `EventType += "(\w+)"`},
		{"errors.md", "domain/errors.go", `Code += "(\w+)"`},
		{"errors.md", "domain/errors.go", `Field\w+ += "(\w+)"`},
		{"health.md", "domain/health/checks.go", `Check\w+ +CheckName += "(\w+)"`},
		{"health.md", "domain/health/checks.go", `Check\w+ +CheckStatus += "(\w+)"`},
		{"health.md", "domain/duty.go", `Duty\w+ +DutyName += "(\w+)"`},
		{"health.md", "adapters/telemetry/alerts.yaml", `alert: (\w+)`},
		{"outbox.md", "domain/saga/status.go", `Code: "([\w-]+)"`},
	} {
		page := read(t, "../../docs/"+c.page)
		words := regexp.MustCompile(c.word).FindAllStringSubmatch(read(t, "../../"+c.source), -1)
		if len(words) == 0 {
			t.Errorf("%s has no words like %s", c.source, c.word)
		}
		for _, word := range words {
			if !strings.Contains(page, "`"+word[1]+"`") {
				t.Errorf("%s lacks %s of %s", c.page, word[1], c.source)
			}
		}
	}
}

func TestTheArchitectureListsThePackagesOfTheStore(t *testing.T) {
	page := read(t, "../../docs/architecture.md")
	packages, err := filepath.Glob("../../adapters/persistence/bunstore/internal/*")
	if err != nil || len(packages) == 0 {
		t.Fatal("there are no packages", err)
	}
	for _, directory := range packages {
		if name := filepath.Base(directory); !strings.Contains(page, "`"+name+"`") {
			t.Errorf("architecture.md lacks %s", name)
		}
	}
}
