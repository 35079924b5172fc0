package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// maxUnknown is the maximum number of unknown fields in a response. It bounds the size of a response to a large
// request.
const maxUnknown = 100

// maxNameLength is the maximum length of an unknown field's name in a response, in bytes. A response does not repeat
// longer names.
const maxNameLength = 32

// object is a JSON object whose fields are read one by one, by exact name. It collects the faults of all fields for one
// response.
type object struct {
	members []member
	names   []string            // the fields that were read, in the order of reading
	noted   []domain.FieldError // the faults of fields that were read
}

// member is one member of an object. Several members of an object can have the same name.
type member struct {
	name  string
	value []byte // its JSON text
}

// parseObject splits valid JSON into the members of its object. encoding/json would accept "Granted" as "granted", and
// would keep the last of two members with the same name.
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

// cutToken returns the first name or value of the text inside an object, and the text after the next colon or comma.
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

// boolean reads a required field that must be true or false.
func (o *object) boolean(name string) bool {
	switch value := o.read(name); string(value) {
	case "true", "false":
		return string(value) == "true"
	case "", "null":
		o.fault(name, domain.FieldRequired, "must be given")
	default:
		o.fault(name, domain.FieldType, "must be true or false")
	}
	return false
}

// text reads a required field that must be a string.
func (o *object) text(name string) string {
	text, ok := o.string(name)
	if !ok {
		o.fault(name, domain.FieldRequired, "must be given")
	}
	return text
}

// optionalText reads a field that must be a string. It returns nil if the field is null, absent or at fault.
func (o *object) optionalText(name string) *string {
	if text, ok := o.string(name); ok {
		return &text
	}
	return nil
}

// string reads a field that must be a string. It returns false if the field is null, absent or at fault.
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

// fault records a fault of a field. Method faults returns only the first fault of a field.
func (o *object) fault(name, code, message string) {
	o.noted = append(o.noted, domain.FieldError{Field: name, Code: code, Message: message})
}

// faults returns all faults. For each field, in the order of reading, it returns the first recorded fault, or else the
// first fault in byDomain. The unknown members follow, in the order of the JSON text.
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

// echoed returns the name of an unknown field if it looks like a field name. It replaces any other name, because the
// name could hold personal data, such as an email address.
func echoed(name string) string {
	if len(name) > maxNameLength || strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r)
	}) {
		return "(unknown)"
	}
	return name
}
