package readme_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	anyBlock = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```")
	runBy    = regexp.MustCompile("(?m)^Run by `(.*)`\\.$")
)

// longestRecipe is the maximum number of lines of a recipe.
const longestRecipe = 60

func TestWhatTheCookbookShowsIsRun(t *testing.T) {
	page, err := os.ReadFile("../../docs/cookbook.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(page), "\n## ")
	used := map[string]bool{}
	for _, recipe := range sections[1:] {
		title, _, _ := strings.Cut(recipe, "\n")
		anchor := strings.ReplaceAll(strings.ToLower(title), " ", "-")
		if !strings.Contains(sections[0], "- ["+title+"](#"+anchor+")\n") {
			t.Errorf("%s: not among the contents", title)
		}
		if lines := strings.Count(strings.TrimSpace(recipe), "\n") + 1; lines > longestRecipe {
			t.Errorf("%s: %d lines, more than %d", title, lines, longestRecipe)
		}
		file := runBy.FindStringSubmatch(recipe)
		if file == nil {
			t.Errorf("%s: not said to be run", title)
			continue
		}
		used[file[1]] = true
		source, err := os.ReadFile("../../" + file[1])
		if err != nil {
			t.Fatal(err)
		}
		blocks := anyBlock.FindAllStringSubmatch(recipe, -1)
		if len(blocks) == 0 {
			t.Errorf("%s: shows no code", title)
		}
		for _, block := range blocks {
			if !strings.Contains(withoutIndentation(string(source)), withoutIndentation(block[1])) {
				t.Errorf("%s: not part of %s:\n%s", title, file[1], block[1])
			}
		}
	}
	files, err := filepath.Glob("../cookbook/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no recipes", err)
	}
	for _, file := range files {
		name := "tests/cookbook/" + filepath.Base(file)
		if !used[name] && filepath.Base(file) != "main_test.go" {
			t.Errorf("%s: on no recipe of the page", name)
		}
	}
}
