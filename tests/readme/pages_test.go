package readme_test

import (
	"path/filepath"
	"strings"
	"testing"
)

const (
	longestPage   = 2000 // words of a page that is read from top to bottom
	longestREADME = 1250

	longestProgram = 120 // lines of an example
	longestIntro   = 6   // lines of its README
)

// The first line of a page says what its reader can do. A page that is read from top to bottom is short. A reference
// has no limit, because one looks up a line in it.
func TestPagesSayWhatTheyAreForAndAreShort(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no pages", err)
	}
	for _, page := range pages {
		text := read(t, page)
		_, text, _ = strings.Cut(text, "\n\n")
		isReference := strings.HasPrefix(text, "With this page, you can look up ")
		if !isReference && !strings.HasPrefix(text, "After reading this page, you ") {
			t.Errorf("%s does not begin with what one can do after reading it", page)
		}
		text = importLine.ReplaceAllString(text, "")
		if words := len(strings.Fields(text)); words > longestPage && !isReference {
			t.Errorf("%s has %d words, more than %d", page, words, longestPage)
		}
	}
	if words := len(strings.Fields(read(t, "../../README.md"))); words > longestREADME {
		t.Errorf("the README has %d words, more than %d", words, longestREADME)
	}
}

func TestExamplesAreShortAndListed(t *testing.T) {
	programs, err := filepath.Glob("../../examples/*/main.go")
	if err != nil || len(programs) == 0 {
		t.Fatal("there are no examples", err)
	}
	list := read(t, "../../examples/README.md")
	for _, program := range programs {
		folder := filepath.Dir(program)
		if lines := strings.Count(read(t, program), "\n"); lines > longestProgram {
			t.Errorf("%s has %d lines, more than %d", program, lines, longestProgram)
		}
		if lines := strings.Count(read(t, filepath.Join(folder, "README.md")), "\n"); lines > longestIntro {
			t.Errorf("the README of %s has %d lines, more than %d", folder, lines, longestIntro)
		}
		if !strings.Contains(list, "("+filepath.Base(folder)+")") {
			t.Errorf("examples/README.md does not list %s", folder)
		}
	}
}
