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

// fromStdin is the argument "-". With this argument, a command reads its subjects or outbox entry ids from the standard
// input.
const fromStdin = "-"

// longestLine is the maximum length of a line of the standard input, in bytes.
const longestLine = 1 << 20

// person is a subject from an argument or from a line of the standard input.
type person struct {
	domain.Subject
	line int // line number on the standard input; 0 for an argument
}

// place returns the beginning of an error text about the subject, such as "line 3: ", or "" if the subject was an
// argument. The text has the line number because it must not contain the id of the subject.
func (p person) place() string {
	if p.line == 0 {
		return ""
	}
	return "line " + strconv.Itoa(p.line) + ": "
}

// oneSubject describes the arguments of a command: one subject, or - for the standard input.
var oneSubject = arguments{1, 1, "a subject, or - for the standard input"}

// subjects returns the subjects that a command processes. They are in the argument or, if the argument is "-", on the
// lines of the standard input. The parameter refs has the values of the flag --ref (system=id), which are the ids of
// the subject in external systems. All subjects are checked before subjects returns.
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

// byteOrderMark begins texts that some programs for Windows write.
const byteOrderMark = "\ufeff"

// eachLine calls do for each line of the standard input that is not empty, with the number of the line. It skips a byte
// order mark, also after the first line, where joined files have it. If do fails, the returned error begins with this
// number.
func (c *call) eachLine(do func(n int, line string) error) error {
	lines := bufio.NewScanner(c.command.InOrStdin())
	lines.Buffer(nil, longestLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimPrefix(strings.TrimSuffix(lines.Text(), "\r"), byteOrderMark)
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

// parseSubject parses the text of a subject: an id, or a JSON object with the members subject_id and refs.
func parseSubject(text string) (domain.Subject, error) {
	if !strings.HasPrefix(text, "{") {
		id, err := parseID(text)
		return domain.Subject{ID: id}, err
	}
	var given struct {
		ID   json.RawMessage     `json:"subject_id"`
		Refs []domain.SubjectRef `json:"refs"`
	}
	if err := decodeStrict(text, &given); err != nil {
		return domain.Subject{}, failed("a subject in JSON must be an object with subject_id and refs")
	}
	id, err := parseID(string(given.ID))
	return domain.Subject{ID: id, Refs: given.Refs}, err
}

// parseID parses an id in one of three forms: a JSON array of strings for a composite id, a JSON string from a result
// of another command, or the id itself.
func parseID(text string) (domain.SubjectID, error) {
	switch {
	case strings.HasPrefix(text, "["):
		var elements []string
		if err := decodeStrict(text, &elements); err != nil {
			return domain.SubjectID{}, failed("a composite id must be a JSON array of strings")
		}
		return domain.NewSubjectID(elements...)
	case strings.HasPrefix(text, `"`):
		var canonical string
		if err := decodeStrict(text, &canonical); err != nil {
			return domain.SubjectID{}, failed("an id that begins with a quotation mark must be a JSON string")
		}
		return domain.ParseSubjectID(canonical)
	default:
		return domain.NewSubjectID(text)
	}
}

// decodeStrict decodes exactly one JSON document. It returns an error for an unknown or duplicate field.
func decodeStrict(text string, into any) error {
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return domain.ErrInvalid
	}
	if hasDuplicates(json.NewDecoder(bytes.NewBufferString(text))) {
		return domain.ErrInvalid
	}
	return nil
}

// hasDuplicates reports whether an object in the next value of valid JSON has two members whose names are equal or
// differ only in case. Two readers of such an object could erase two people.
func hasDuplicates(decoder *json.Decoder) bool {
	begin, _ := decoder.Token() // the text is valid
	seen := map[string]bool{}
	for delim, ok := begin.(json.Delim); ok && decoder.More(); {
		if delim == '{' {
			token, _ := decoder.Token()
			name, _ := token.(string)
			folded := strings.ToLower(strings.ToUpper(name))
			if seen[folded] {
				return true
			}
			seen[folded] = true
		}
		if hasDuplicates(decoder) {
			return true
		}
	}
	if _, ok := begin.(json.Delim); ok {
		_, _ = decoder.Token() // the end of the object or the array
	}
	return false
}

// formatID returns an id as a text that parseID can parse.
func formatID(id domain.SubjectID) string {
	elements := id.Elements()
	if len(elements) == 1 {
		return elements[0]
	}
	text, _ := json.Marshal(elements) // encoding strings cannot fail
	return string(text)
}

// mustKnow returns an error if the database has no row of the subject and no record of its erasure.
func (c *call) mustKnow(ctx context.Context, p person) error {
	state, err := c.SubjectState(ctx, p.ID)
	if err != nil && p.line > 0 {
		return failed(p.place() + explain(err).Error())
	}
	if err != nil {
		return err
	}
	if !state.Present && state.Life == "" {
		return failed(p.place() + "the database has no subject with this id, and no erasure of it: check the id")
	}
	return nil
}
