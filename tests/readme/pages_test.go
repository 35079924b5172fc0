package readme_test

import (
	"path/filepath"
	"strings"
	"testing"
)

const (
	longestPage   = 2000 // words of a page that is read from top to bottom
	longestREADME = 1250
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
		if words := len(strings.Fields(text)); words > longestPage && !isReference {
			t.Errorf("%s has %d words, more than %d", page, words, longestPage)
		}
	}
	if words := len(strings.Fields(read(t, "../../README.md"))); words > longestREADME {
		t.Errorf("the README has %d words, more than %d", words, longestREADME)
	}
}
