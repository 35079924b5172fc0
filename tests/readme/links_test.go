package readme_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInHash  = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
	codeBlocks = regexp.MustCompile("(?s)```.*?```")
)

func TestLinksLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no pages", err)
	}
	for _, page := range []string{
		"README.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md", "docs/benchmarks/README.md", "examples/README.md",
	} {
		pages = append(pages, filepath.Join("../..", page))
	}
	for _, page := range pages {
		for _, found := range link.FindAllStringSubmatch(codeBlocks.ReplaceAllString(read(t, page), ""), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			path, anchor, anchored := strings.Cut(found[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", page, found[1])
				continue
			}
			if anchored && !slices.Contains(anchorsOf(read(t, target)), anchor) {
				t.Errorf("%s: %s names no heading", page, found[1])
			}
		}
	}
}

func TestEveryPageIsAmongTheContents(t *testing.T) {
	contents := read(t, "../../docs/README.md")
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(contents, "("+name) {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

// anchorsOf returns the anchors of the headings of a page, in the form that code hosts create.
func anchorsOf(page string) []string {
	var anchors []string
	for _, found := range heading.FindAllStringSubmatch(codeBlocks.ReplaceAllString(page, ""), -1) {
		text := notInHash.ReplaceAllString(strings.ToLower(found[1]), "")
		anchors = append(anchors, strings.ReplaceAll(text, " ", "-"))
	}
	return anchors
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
