package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// maxUnknown is the maximum number of unknown fields that a response lists. Without this limit, a large request with
// many unknown fields would get a large response.
const maxUnknown = 100

// maxNameLength is the maximum length in bytes of an unknown field's name that a response repeats.
const maxNameLength = 32

// object is a JSON object whose fields are read one by one. Names of fields must match exactly. object collects the
// errors of all fields, so that one response can list all of them.
type object struct {
	members []member
	names   []string            // the fields that were read, in the order of reading
	noted   []domain.FieldError // the errors of the fields that were read
}

// member is one member of an object. Several members of an object can have the same name.
type member struct {
	name  string
	value []byte // its JSON text
}

// parseObject splits valid JSON into the members of its object. It does not use encoding/json, which would accept the
// name "Granted" for "granted", and would keep only the last of two members with the same name.
func parseObject(text []byte) (*object, error) {
	rest := bytes.TrimSpace(text)
	if rest[0] != '{' {
		return nil, problem(http.StatusUnprocessableEntity, "The body must be a JSON object.")
	}
	o := &object{members: make([]member, 0, 4), names: make([]string, 0, 3)} // enough for most requests
	for rest = bytes.TrimSpace(rest[1 : len(rest)-1]); len(rest) > 0; {
		var name, value []byte
		name, rest = cutToken(rest)
		value, rest = cutToken(rest)
		decoded, err := decodeString(name)
		if err != nil {
			return nil, err
		}
		o.members = append(o.members, member{decoded, value})
	}
	return o, nil
}

// cutToken cuts the first name or value off the text inside a JSON object. It returns this name or value, and the text
// after the next colon or comma.
func cutToken(text []byte) (token, rest []byte) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		case depth == 0 && (c == ':' || c == ','):
			return bytes.TrimSpace(text[:i]), text[i+1:]
		}
	}
	return bytes.TrimSpace(text), nil
}

// decodeString decodes a JSON string. It returns an error if text is a JSON value of another type.
func decodeString(text []byte) (string, error) {
	if text[0] == '"' && !bytes.ContainsRune(text, '\\') {
		return string(text[1 : len(text)-1]), nil
	}
	var decoded string
	err := json.Unmarshal(text, &decoded)
	return decoded, err
}

// boolean reads a required field whose value must be true or false. If the field has an error, boolean returns true: a
// grant and a restriction are checked more strictly than their ends, so that the response lists all errors.
func (o *object) boolean(name string) bool {
	switch value := o.read(name); string(value) {
	case "true", "false":
		return string(value) == "true"
	case "", "null":
		o.fault(name, domain.FieldRequired, "must be given")
	default:
		o.fault(name, domain.FieldType, "must be true or false")
	}
	return true
}

// text reads a required field whose value must be a string.
func (o *object) text(name string) string {
	text, ok := o.string(name)
	if !ok {
		o.fault(name, domain.FieldRequired, "must be given")
	}
	return text
}

// optionalText reads a field whose value must be a string. It returns nil if the field is absent or null, or if the
// field has an error.
func (o *object) optionalText(name string) *string {
	if text, ok := o.string(name); ok {
		return &text
	}
	return nil
}

// string reads a field whose value must be a string. It returns false if the field is absent or null, or if the field
// has an error.
func (o *object) string(name string) (text string, ok bool) {
	value := o.read(name)
	if len(value) == 0 || string(value) == "null" {
		return "", false
	}
	text, err := decodeString(value)
	if err != nil {
		o.fault(name, domain.FieldType, "must be a string")
		return "", false
	}
	return text, true
}

// read returns the JSON text of a field. It returns nil if the field is absent or occurs more than once.
func (o *object) read(name string) (value []byte) {
	o.names = append(o.names, name)
	for _, m := range o.members {
		switch {
		case m.name != name:
		case value != nil:
			o.fault(name, domain.FieldDuplicate, "must be given only once")
			return nil
		default:
			value = m.value
		}
	}
	return value
}

// fault records an error of a field. If a field has several errors, o.faults returns only the first.
func (o *object) fault(name, code, message string) {
	o.noted = append(o.noted, domain.FieldError{Field: name, Code: code, Message: message})
}

// faults returns the errors of all fields, at most one for each field. First come the fields that were read, in the
// order of reading. The unknown fields follow, in the order of the JSON text. The parameter byDomain has the errors
// that package domain has found. An error in byDomain is omitted if the same field already has an error of its JSON
// value.
func (o *object) faults(byDomain []domain.FieldError) []domain.FieldError {
	noted := append(o.noted, byDomain...) //nolint:gocritic // nothing is added to o.noted afterwards
	var all []domain.FieldError
	for _, name := range o.names {
		i := slices.IndexFunc(noted, func(fault domain.FieldError) bool { return fault.Field == name })
		if i >= 0 {
			all = append(all, noted[i])
		}
	}
	var unknown []string
	for _, m := range o.members {
		if slices.Contains(o.names, m.name) || slices.Contains(unknown, m.name) || len(unknown) == maxUnknown {
			continue
		}
		unknown = append(unknown, m.name)
		all = append(all, domain.FieldError{
			Field: echoed(m.name), Code: domain.FieldUnknown, Message: "is not a field of this request",
		})
	}
	return all
}

// echoed returns the text with which a response names an unknown field. This is "(unknown)" if the name does not look
// like the name of a field, because it could then be personal data, such as an email address.
func echoed(name string) string {
	if len(name) > maxNameLength || strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r)
	}) {
		return "(unknown)"
	}
	return name
}
