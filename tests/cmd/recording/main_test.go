package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxSize is the limit for a picture that a page loads.
const maxSize = 60_000

func TestThePicturesAreSmallAndValid(t *testing.T) {
	files, err := filepath.Glob("../../../" + pictures + "/*.svg")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(content) > maxSize {
			t.Errorf("%s has %d bytes", file, len(content))
		}
		expectXML(t, string(content))
	}
}

func expectXML(t *testing.T, text string) {
	t.Helper()
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnAnimationShowsItsScenesInTurn(t *testing.T) {
	picture := draw("a title", []scene{{"$ habeas lint", "", "error x <y>"}, {strings.Repeat("x", columns+1)}})
	expectXML(t, picture)
	for _, want := range []string{
		`<text class="command" x="18" y="31">$ habeas lint</text>`, `class="bad"`, "error x &lt;y&gt;",
		strings.Repeat("x", columns-1) + "…", "@keyframes s1",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture lacks %s:\n%s", want, picture)
		}
	}
	if picture := draw("a title", []scene{{"one"}}); strings.Contains(picture, "@keyframes") {
		t.Error("a single scene moves")
	}
}

func TestTheWalkthroughIsAbridged(t *testing.T) {
	walkthrough := "It runs.\n\n== Alice requests a copy\n\nfirst\n" + strings.Repeat("more\n", 40) + "last\n" +
		"\n== A second erasure\n\nhidden\n\nThe end."
	scenes := scenesOf(walkthrough)
	all := strings.Join(scenes[0], "\n")
	if len(scenes) != 1 || strings.Contains(all, "hidden") || !strings.HasPrefix(all, "$ go run") ||
		!strings.Contains(all, "\n   …\n") || !strings.HasSuffix(all, "last\n\nThe end.") {
		t.Errorf("%q", scenes)
	}
}
