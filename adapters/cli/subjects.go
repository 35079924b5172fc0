package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// fromStdin is the argument that selects the lines of the standard input.
const fromStdin = "-"

// longestLine is the maximum length of a line of the standard input, in bytes.
const longestLine = 1 << 20

// person is a subject with its position in the input.
type person struct {
	domain.Subject
	line int // line number on the standard input; 0 for an argument
}

// at returns the line number of the subject, as the start of an error text. Error texts never have an id.
func (p person) at() string {
	if p.line == 0 {
		return ""
	}
	return "line " + strconv.Itoa(p.line) + ": "
}

// oneSubject has the arguments of commands that take a subject.
var oneSubject = arguments{1, 1, "a subject, or - for the standard input"}

// subjects returns the subjects of a call: the subject of the argument with refs (system=id) of flags, or the subjects
// of the standard input. It checks all of them before it returns the first.
func (c *call) subjects(refs ...string) ([]person, error) {
	if c.args[0] == fromStdin {
		if len(refs) > 0 {
			return nil, usage(c.command, "--ref needs a subject as the argument; a line of the standard input has refs in JSON")
		}
		return c.subjectsOfLines()
	}
	subject, err := parseSubject(c.args[0])
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		kind, value, ok := strings.Cut(ref, "=")
		if !ok {
			return nil, usage(c.command, "--ref must have the form system=id")
		}
		subject.Refs = append(subject.Refs, domain.SubjectRef{Kind: kind, Value: value})
	}
	return []person{{subject, 0}}, subject.Validate()
}

func (c *call) subjectsOfLines() (people []person, err error) {
	err = c.eachLine(func(n int, line string) error {
		subject, err := parseSubject(line)
		if err == nil {
			err = subject.Validate()
		}
		people = append(people, person{subject, n})
		return err
	})
	if err == nil && len(people) == 0 {
		return nil, failed("the standard input has no subject: write one subject per line")
	}
	return people, err
}

// eachLine calls do with each non-empty line of the standard input and its number. The text of an error of do gets the
// line number as a prefix.
func (c *call) eachLine(do func(n int, line string) error) error {
	lines := bufio.NewScanner(c.command.InOrStdin())
	lines.Buffer(nil, longestLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSuffix(lines.Text(), "\r")
		if line == "" {
			continue
		}
		if err := do(n, line); err != nil {
			return failed("line " + strconv.Itoa(n) + ": " + explain(err).Error())
		}
	}
	if lines.Err() != nil {
		return failed("line " + strconv.Itoa(n+1) + " of the standard input cannot be read, or is longer than 1 MiB")
	}
	return nil
}

// parseSubject parses a subject: a JSON object with subject_id and refs, or an id.
func parseSubject(text string) (domain.Subject, error) {
	if !strings.HasPrefix(text, "{") {
		id, err := parseID(text)
		return domain.Subject{ID: id}, err
	}
	var given struct {
		ID   json.RawMessage     `json:"subject_id"`
		Refs []domain.SubjectRef `json:"refs"`
	}
	if err := strict(text, &given); err != nil {
		return domain.Subject{}, failed("a subject in JSON must be an object with subject_id and refs")
	}
	id, err := parseID(string(given.ID))
	return domain.Subject{ID: id, Refs: given.Refs}, err
}

// parseID parses an id: a JSON array of strings for a composite id, a JSON string for an id from a JSON result, or the
// id itself.
func parseID(text string) (domain.SubjectID, error) {
	switch {
	case strings.HasPrefix(text, "["):
		var elements []string
		if err := strict(text, &elements); err != nil {
			return domain.SubjectID{}, failed("a composite id must be a JSON array of strings")
		}
		return domain.NewSubjectID(elements...)
	case strings.HasPrefix(text, `"`):
		var canonical string
		if err := strict(text, &canonical); err != nil {
			return domain.SubjectID{}, failed("an id that begins with a quotation mark must be a JSON string")
		}
		return domain.ParseSubjectID(canonical)
	default:
		return domain.NewSubjectID(text)
	}
}

// strict decodes one JSON document and refuses unknown fields.
func strict(text string, into any) error {
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return domain.ErrInvalid
	}
	return nil
}

// written returns an id in the form that parseID reads.
func written(id domain.SubjectID) string {
	elements := id.Elements()
	if len(elements) == 1 {
		return elements[0]
	}
	text, _ := json.Marshal(elements) // encoding strings cannot fail
	return string(text)
}

// mustKnow returns an error if the database has no row and no erasure of the subject.
func (c *call) mustKnow(ctx context.Context, p person) error {
	state, err := c.Known(ctx, p.ID)
	if err != nil {
		return err
	}
	if !state.Present && !state.Erased {
		return failed(p.at() + "the database has no subject with this id, and no erasure of it: check the id")
	}
	return nil
}
