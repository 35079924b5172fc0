package httpapi

import (
	"encoding/json"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// maxUnknown bounds how many unknown fields are reported, so that no answer is many times as long as its request.
const maxUnknown = 100

// maxNameLength bounds how many characters an unknown field's name may have to be repeated.
const maxNameLength = 32

// object is a JSON object whose fields are taken out one by one, by exact name. It collects what is wrong with them
// so that the client learns of everything at once.
type object struct {
	members  map[string]json.RawMessage
	names    []string // of the members, in order of appearance
	repeated map[string]bool

	asked  []string // the fields that were taken out, in that order
	faulty map[string]domain.FieldError
}

func newObject() *object {
	return &object{
		members:  map[string]json.RawMessage{},
		repeated: map[string]bool{},
		faulty:   map[string]domain.FieldError{},
	}
}

func (o *object) add(name string, value json.RawMessage) {
	if _, twice := o.members[name]; twice {
		o.repeated[name] = true
		return
	}
	o.members[name] = value
	o.names = append(o.names, name)
}

// boolean returns a required field that is true or false.
func (o *object) boolean(name string) bool {
	switch raw := o.take(name); raw {
	case "true", "false":
		return raw == "true"
	case "", "null":
		o.fault(name, domain.FieldRequired, "must be given")
	default:
		o.fault(name, domain.FieldType, "must be true or false")
	}
	return false
}

// text returns a required field that is a string.
func (o *object) text(name string) string {
	text := o.optionalText(name)
	if text == nil {
		o.fault(name, domain.FieldRequired, "must be given")
		return ""
	}
	return *text
}

// optionalText returns a field that is a string, or nil when it is null or not there.
func (o *object) optionalText(name string) *string {
	raw := o.take(name)
	if raw == "" || raw == "null" {
		return nil
	}
	var text string
	if err := json.Unmarshal([]byte(raw), &text); err != nil {
		o.fault(name, domain.FieldType, "must be a string")
		return nil
	}
	return &text
}

// take returns the JSON text of a field, or nothing when it is not there or there more than once.
func (o *object) take(name string) string {
	o.asked = append(o.asked, name)
	if o.repeated[name] {
		o.fault(name, domain.FieldDuplicate, "must be given only once")
		return ""
	}
	return string(o.members[name])
}

// fault notes what is wrong with a field. The first fault of a field is the one that counts.
func (o *object) fault(name, code, message string) {
	if _, known := o.faulty[name]; !known {
		o.faulty[name] = domain.FieldError{Field: name, Code: code, Message: message}
	}
}

// faults returns everything that is wrong: for each field that was taken out, in that order, what was noted, or else
// what the domain says of it; then the members that were not, in order of appearance.
func (o *object) faults(byDomain []domain.FieldError) []domain.FieldError {
	for _, fault := range byDomain {
		o.fault(fault.Field, fault.Code, fault.Message)
	}
	var all []domain.FieldError
	for _, name := range o.asked {
		if fault, ok := o.faulty[name]; ok {
			all = append(all, fault)
		}
		delete(o.members, name)
	}
	unknown := 0
	for _, name := range o.names {
		if _, left := o.members[name]; left && unknown < maxUnknown {
			unknown++
			all = append(all, domain.FieldError{
				Field: echoed(name), Code: domain.FieldUnknown, Message: "is not a field of this request",
			})
		}
	}
	return all
}

// echoed is what is repeated of a name that the client chose: the name where it looks like that of a field, and
// nothing of one that could be anything, such as an email address.
func echoed(name string) string {
	if len(name) > maxNameLength || strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r)
	}) {
		return "(unknown)"
	}
	return name
}
