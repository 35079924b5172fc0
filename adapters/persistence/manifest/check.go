package manifest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// readTables reads the tables of a manifest. It returns all mistakes in the structure and the types of the JSON
// document. If a value in a table has the wrong type, the result contains only the name of this table, because the
// other values may be meaningless.
func readTables(text []byte) ([]datamap.Table, []domain.Problem) {
	var c checker
	c.check(text, reflect.TypeFor[document](), "")
	var raw struct {
		Tables []json.RawMessage `json:"tables"`
	}
	_ = json.Unmarshal(text, &raw) // the checker has already reported errors of syntax and type
	var tables []datamap.Table
	for i, text := range raw.Tables {
		var table datamap.Table
		if err := json.Unmarshal(text, &table); err != nil || c.unread[i] {
			table = datamap.Table{Name: table.Name}
		}
		tables = append(tables, table)
	}
	for i := range c.problems {
		c.name(&c.problems[i], raw.Tables)
	}
	return tables, c.problems
}

// checker checks that a JSON value has the structure of a Go type, and records each difference. encoding/json alone is
// not strict enough: it accepts duplicate members, names in another case, and null for every type.
type checker struct {
	problems []domain.Problem
	unread   map[int]bool // the tables with a value of the wrong type
}

// report records a mistake. Its place in the document is a text such as tables[0].columns[2].name.
func (c *checker) report(where, message string, possible ...string) {
	c.problems = append(c.problems, domain.Problem{Message: where + ": " + message, Possible: possible})
}

// mistyped records the mistake that a value has the wrong type.
func (c *checker) mistyped(where, message string) {
	c.report(where, message)
	if table, _, ok := indexOf(where, "tables["); ok {
		if c.unread == nil {
			c.unread = map[int]bool{}
		}
		c.unread[table] = true
	}
}

func (c *checker) check(value json.RawMessage, t reflect.Type, where string) {
	switch {
	case t.Kind() == reflect.Pointer:
		c.check(value, t.Elem(), where)
		return
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(textUnmarshaler):
		c.checkObject(value, t, where)
		return
	case t.Kind() == reflect.Slice:
		var elements []json.RawMessage
		if err := json.Unmarshal(value, &elements); err != nil || elements == nil {
			c.mistyped(where, "must be a list")
			return
		}
		for i, element := range elements {
			c.check(element, t.Elem(), where+"["+strconv.Itoa(i)+"]")
		}
		return
	}
	err := json.Unmarshal(value, reflect.New(t).Interface())
	var own *domain.Error
	switch {
	case errors.As(err, &own):
		c.mistyped(where, own.Message)
	case err != nil || string(value) == "null":
		c.mistyped(where, "has a value of the wrong type")
	}
}

func (c *checker) checkObject(value json.RawMessage, t reflect.Type, where string) {
	members := map[string]reflect.Type{}
	var known []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" { // is not a member
			continue
		}
		members[name] = t.Field(i).Type
		known = append(known, name)
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	if opening, err := decoder.Token(); err != nil || opening != json.Delim('{') {
		c.mistyped(where, "must be an object")
		return
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, _ := decoder.Token() // the value has already been parsed
		name, _ := token.(string)
		place := strings.TrimPrefix(where+"."+name, ".")
		var member json.RawMessage
		_ = decoder.Decode(&member)
		switch {
		case seen[name]:
			c.report(place, "occurs twice")
		case members[name] == nil:
			c.report(place, "is unknown", known...)
		default:
			c.check(member, members[name], place)
		}
		seen[name] = members[name] != nil
	}
}

// name sets the table and the column of a problem. It takes their names from the document.
func (c *checker) name(problem *domain.Problem, tables []json.RawMessage) {
	i, rest, ok := indexOf(problem.Message, "tables[")
	if !ok || i >= len(tables) {
		return
	}
	var table struct {
		Name    string            `json:"name"`
		Columns []json.RawMessage `json:"columns"`
	}
	_ = json.Unmarshal(tables[i], &table)
	problem.Table = table.Name
	if j, _, ok := indexOf(rest, ".columns["); ok && table.Name != "" && j < len(table.Columns) {
		var column struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(table.Columns[j], &column)
		problem.Column = column.Name
	}
}

// indexOf parses the list index that follows a prefix. For example, it returns 3 for "tables[3]" and the prefix
// "tables[".
func indexOf(place, prefix string) (index int, rest string, ok bool) {
	after, found := strings.CutPrefix(place, prefix)
	digits, rest, closed := strings.Cut(after, "]")
	index, err := strconv.Atoi(digits)
	return index, rest, found && closed && err == nil
}
