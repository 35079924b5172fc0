package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Section is a part of the results.
type Section struct {
	Title string
	Intro []string // paragraphs before the table, in the Markdown
	Table Table
	Chart Chart // the zero value for none
	Notes []string
}

// Chart is a picture that goes with a section.
type Chart struct {
	Name string // of its file, without a directory
	Alt  string // for whoever does not see it
	SVG  string
}

// Page is everything that was measured in one go.
type Page struct {
	Title    string
	Intro    []string // of the Markdown
	Machine  []string
	Sections []Section
}

// Text is the page for a terminal.
func (p Page) Text() string {
	var text strings.Builder
	for _, line := range p.Machine {
		text.WriteString(line + "\n")
	}
	for _, section := range p.Sections {
		text.WriteString("\n" + section.Title + "\n\n" + section.Table.Text())
		for _, note := range section.Notes {
			text.WriteString("  " + note + "\n")
		}
	}
	return text.String()
}

// Markdown is the page for a repository; it shows the charts that lie beside it.
func (p Page) Markdown() string {
	var text strings.Builder
	paragraphs := func(lines ...string) {
		for _, line := range lines {
			text.WriteString(line + "\n\n")
		}
	}
	paragraphs("# " + p.Title)
	paragraphs(p.Intro...)
	for _, line := range p.Machine {
		text.WriteString("- " + line + "\n")
	}
	for _, section := range p.Sections {
		text.WriteByte('\n')
		paragraphs("## " + section.Title)
		paragraphs(section.Intro...)
		if section.Chart.SVG != "" {
			paragraphs("![" + section.Chart.Alt + "](" + section.Chart.Name + ")")
		}
		text.WriteString(section.Table.Markdown())
		for i, note := range section.Notes {
			if i == 0 {
				text.WriteByte('\n')
			}
			text.WriteString("- " + note + "\n")
		}
	}
	return text.String()
}

// Write writes the page as README.md into a directory, which is made if need be, and the charts beside it.
func (p Page) Write(directory string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	write := func(name, content string) error {
		return os.WriteFile(filepath.Join(directory, name), []byte(content), 0o644)
	}
	err := write("README.md", p.Markdown())
	for _, section := range p.Sections {
		if section.Chart.SVG != "" {
			err = errors.Join(err, write(section.Chart.Name, section.Chart.SVG))
		}
	}
	return err
}
