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

// fromStdin is the argument that stands for lines of the standard input.
const fromStdin = "-"

// longestLine is how many bytes a line of the standard input may have.
const longestLine = 1 << 20

// person is a subject as it was given.
type person struct {
	domain.Subject
	line int // of the standard input; 0 for an argument
}

// at names where the subject was given, for an error. An error never has an id.
func (p person) at() string {
	if p.line == 0 {
		return ""
	}
	return "line " + strconv.Itoa(p.line) + ": "
}

// oneSubject are the arguments of verbs about a subject.
var oneSubject = arguments{1, 1, "a subject, or - for the standard input"}

// subjects returns the subjects of a call: that of the argument, with the refs of flags (system=id), or those of the
// standard input. All of it is checked before the first is returned.
func (c *call) subjects(refs ...string) ([]person, error) {
	if c.args[0] == fromStdin {
		if len(refs) > 0 {
			return nil, usage(c.command, "--ref is for a subject that is an argument; a line has its refs in JSON")
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
			return nil, usage(c.command, "--ref must be system=id")
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
		return nil, failed("the standard input has no subject")
	}
	return people, err
}

// eachLine calls a function for each line of the standard input that is not empty, with its number. An error of the
// function gets the number in front.
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

// parseSubject reads a subject: an object in JSON with subject_id and refs, or else its id.
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
		return domain.Subject{}, failed("a subject in JSON is an object with subject_id and refs")
	}
	id, err := parseID(string(given.ID))
	return domain.Subject{ID: id, Refs: given.Refs}, err
}

// parseID reads an id: an array of texts in JSON for a composite id, a text in JSON for an id as results have it, or
// else the id itself.
func parseID(text string) (domain.SubjectID, error) {
	switch {
	case strings.HasPrefix(text, "["):
		var elements []string
		if err := strict(text, &elements); err != nil {
			return domain.SubjectID{}, failed("a composite id is an array of texts in JSON")
		}
		return domain.NewSubjectID(elements...)
	case strings.HasPrefix(text, `"`):
		var canonical string
		if err := strict(text, &canonical); err != nil {
			return domain.SubjectID{}, failed("an id that begins with a quotation mark is a text in JSON")
		}
		return domain.ParseSubjectID(canonical)
	default:
		return domain.NewSubjectID(text)
	}
}

// strict decodes one document in JSON without unknown fields.
func strict(text string, into any) error {
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF { //nolint:errorlint // as it is documented
		return domain.ErrInvalid
	}
	return nil
}

// written is an id for people: as parseID reads it.
func written(id domain.SubjectID) string {
	elements := id.Elements()
	if len(elements) == 1 {
		return elements[0]
	}
	text, _ := json.Marshal(elements) // texts have a form in JSON
	return string(text)
}

// mustKnow refuses a subject that the database has never heard of.
func (c *call) mustKnow(ctx context.Context, p person) error {
	state, err := c.Known(ctx, p.ID)
	if err != nil {
		return err
	}
	if !state.Present && !state.Erased {
		return failed(p.at() + "the database has no subject of this id, and has erased none; check the id")
	}
	return nil
}
