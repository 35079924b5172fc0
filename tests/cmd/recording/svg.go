package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// scene is the text on a terminal, line by line.
type scene []string

const (
	columns    = 104 // a longer line is cut
	lineHeight = 17
	charWidth  = 7.85
	margin     = 18
	seconds    = 8 // each scene is shown
)

// White space is kept by the attribute xml:space in old programs, and by the property in new ones.
const style = `<style>
.page { fill: #f6f8fa; stroke: #d0d7de; }
text { font: 13px ui-monospace, SFMono-Regular, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; }
text { fill: #24292f; }
.command, .title { font-weight: 600; }
.title { fill: #0550ae; }
.good { fill: #1a7f37; }
.bad { fill: #cf222e; }
.note { fill: #9a6700; }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117; stroke: #30363d; } text { fill: #e6edf3; } .title { fill: #79c0ff; }
  .good { fill: #3fb950; } .bad { fill: #ff7b72; } .note { fill: #d29922; }
}
`

// classes are the kinds of lines that have a color of their own.
var classes = []struct {
	class string
	line  *regexp.Regexp
}{
	{"command", regexp.MustCompile(`^\$ `)},
	{"title", regexp.MustCompile(`^(== |-> )`)},
	{"good", regexp.MustCompile(`^( +ok: |<- 2\d\d|The walkthrough is complete)`)},
	{"bad", regexp.MustCompile(`^(<- [45]\d\d|error |.* delete +\d)`)},
	{"note", regexp.MustCompile(`^(warning |.* anonymize +\d)`)},
}

// draw returns a picture with a title for screen readers. It has one scene, or it is an animation of several that
// begins again after the last one. Readers who want less motion see the first scene.
func draw(title string, scenes []scene) string {
	height, width := 0, 0
	for _, s := range scenes {
		height = max(height, len(s))
		for _, line := range s {
			width = max(width, min(columns, utf8.RuneCountInString(line)))
		}
	}
	w, h := int(float64(width)*charWidth)+2*margin, height*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" `+
		`role="img" aria-label="`+title+`" xml:space="preserve">`+"\n", w, h, w, h)
	b.WriteString(style + motion(len(scenes)) + "</style>\n")
	fmt.Fprintf(&b, `<rect class="page" x=".5" y=".5" width="%d" height="%d" rx="8"/>`+"\n", w-1, h-1)
	for i, s := range scenes {
		fmt.Fprintf(&b, "<g class=\"scene s%d\">\n", i)
		for j, line := range s {
			if line == "" {
				continue
			}
			fmt.Fprintf(&b, "<text%s x=\"%d\" y=\"%d\">%s</text>\n", classOf(line), margin, margin+13+j*lineHeight,
				html.EscapeString(cut(line)))
		}
		b.WriteString("</g>\n")
	}
	return b.String() + "</svg>\n"
}

// motion returns the rules that show one scene after the other.
func motion(scenes int) string {
	if scenes == 1 {
		return ""
	}
	var b strings.Builder
	b.WriteString(".scene { opacity: 0; } .s0 { opacity: 1; }\n@media (prefers-reduced-motion: no-preference) {\n")
	for i := range scenes {
		from, until := 100*float64(i)/float64(scenes), 100*float64(i+1)/float64(scenes)
		fmt.Fprintf(&b, "  .s%d { animation: s%d %ds step-end infinite; }\n", i, i, seconds*scenes)
		fmt.Fprintf(&b, "  @keyframes s%d { 0%% { opacity: 0; } %.2f%% { opacity: 1; } %.2f%%, 100%% { opacity: %d; } }\n",
			i, from, until, map[bool]int{true: 1}[i == scenes-1])
	}
	return b.String() + "}\n"
}

func classOf(line string) string {
	for _, c := range classes {
		if c.line.MatchString(line) {
			return ` class="` + c.class + `"`
		}
	}
	return ""
}

// cut shortens a line to the columns of the picture.
func cut(line string) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:columns-1]) + "…"
}
