package manifest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// layout returns a JSON value with one line for each column, each relation and each option of a question. It writes a
// list of objects on several lines, and every object that contains no such list on one line.
func layout(value json.RawMessage, indent string) string {
	if !isLong(value) {
		return line(value)
	}
	return block(value, indent, func(m member, indent string) string {
		if m.label != `"options": ` {
			return layout(m.value, indent)
		}
		return block(m.value, indent, func(option member, _ string) string { return line(option.value) })
	})
}

// block returns a list or an object with its members on lines of their own.
func block(value json.RawMessage, indent string, text func(m member, indent string) string) string {
	opening, members := parts(value)
	lines := make([]string, len(members))
	for i, m := range members {
		lines[i] = "\n" + indent + "  " + m.label + text(m, indent+"  ")
	}
	return string(opening) + strings.Join(lines, ",") + "\n" + indent + string(opening+2)
}

// line returns a JSON value on one line.
func line(value json.RawMessage) string {
	opening, members := parts(value)
	if opening == 0 {
		return string(value)
	}
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = m.label + line(m.value)
	}
	return string(opening) + strings.Join(list, ", ") + string(opening+2)
}

// member is an element of a list, or a member of an object.
type member struct {
	label string // such as "name": with a space; empty in a list
	value json.RawMessage
}

// parts returns the first character and the members of a list or an object. It returns 0 for other values.
func parts(value json.RawMessage) (opening byte, members []member) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	first, err := decoder.Token()
	delimiter, ok := first.(json.Delim)
	if err != nil || !ok {
		return 0, nil
	}
	for decoder.More() {
		var m member
		if delimiter == '{' {
			name, _ := decoder.Token()      // encoding/json has written the value
			quoted, _ := json.Marshal(name) // names are identifiers of Go tags
			m.label = string(quoted) + ": "
		}
		_ = decoder.Decode(&m.value)
		members = append(members, m)
	}
	return delimiter.String()[0], members
}

// isLong reports whether a value is a list of objects, or contains one.
func isLong(value json.RawMessage) bool {
	opening, members := parts(value)
	for _, m := range members {
		if opening == '[' && m.value[0] == '{' || isLong(m.value) {
			return true
		}
	}
	return false
}
