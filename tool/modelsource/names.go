package modelsource

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// initialisms are words that Go names write in capital letters.
var initialisms = []string{
	"acl", "api", "ascii", "cpu", "css", "dns", "eof", "guid", "html", "http", "https", "id", "ip", "json", "qps", "ram",
	"rpc", "sla", "smtp", "sql", "ssh", "tcp", "tls", "ttl", "udp", "ui", "uid", "uuid", "uri", "url", "utf", "vm", "xml",
	"xmpp", "xsrf", "xss",
}

// goName returns an exported Go name for the name of a table or column. For example, it returns UserID for user_id.
func goName(name string) string {
	var b strings.Builder
	for _, word := range words.Split(name) {
		lower := strings.ToLower(word)
		plural := strings.TrimSuffix(lower, "s")
		switch {
		case slices.Contains(initialisms, lower):
			b.WriteString(strings.ToUpper(word))
		case plural != lower && slices.Contains(initialisms, plural):
			b.WriteString(strings.ToUpper(plural) + "s")
		default:
			letters := []rune(word)
			letters[0] = unicode.ToUpper(letters[0])
			b.WriteString(string(letters))
		}
	}
	text := b.String()
	if text == "" || !unicode.IsUpper([]rune(text)[0]) { // a digit, or a letter of a script without capitals
		return "X" + text
	}
	return text
}

func structName(table string) string {
	parts := words.Split(table[strings.LastIndexByte(table, '.')+1:])
	if len(parts) > 0 {
		parts[len(parts)-1] = names.Singular(parts[len(parts)-1])
	}
	return goName(strings.Join(parts, "_"))
}

// uniqueName returns the name, and appends a number if the name is already taken.
func uniqueName(name string, taken map[string]bool) string {
	free := name
	for i := 2; taken[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	taken[free] = true
	return free
}

// nameFields chooses the names of the fields of a model. It first names the relations that have a name in the data map,
// because the option "via" of a column refers to that name.
func (m *model) nameFields() {
	m.columns, m.relations = map[string]string{}, make([]string, len(m.Relations))
	taken := map[string]bool{"BaseModel": true}
	for i, r := range m.Relations {
		if r.Name != "" {
			m.relations[i] = uniqueName(goName(r.Name), taken)
		}
	}
	for _, c := range m.Columns {
		m.columns[c.Name] = uniqueName(goName(c.Name), taken)
	}
	for i, r := range m.Relations {
		if m.relations[i] == "" {
			m.relations[i] = uniqueName(relationName(r), taken)
		}
	}
}

// relationName returns a name for a relation without a name. For example, it returns Author for the column author_id.
func relationName(r datamap.Relation) string {
	parts := words.Split(r.Columns[len(r.Columns)-1])
	if last := len(parts) - 1; last > 0 && slices.Contains([]string{"id", "uuid", "guid"}, strings.ToLower(parts[last])) {
		return goName(strings.Join(parts[:last], "_"))
	}
	return structName(r.References)
}

// nameVias sets m.vias, which maps the name of each path in the data map to the name of this path in the models. A path
// is a chain of relations from the table to the table of subjects. Its name in the models consists of the names of the
// relation fields.
func (m *model) nameVias(dataMap datamap.DataMap, f *file) {
	for i, r := range m.Relations {
		if _, ok := dataMap.Table(r.References); !ok {
			m.relations[i] = "" // the referenced table has no model
		}
	}
	m.vias = map[string]string{}
	for _, path := range dataMap.Paths(m.Name) {
		var parts []string
		at := m
		for _, r := range path.Relations {
			if at.pathRelations() > 1 {
				i := slices.IndexFunc(at.Relations, r.Equals)
				parts = append(parts, at.relations[i])
			}
			at = f.model(r.References)
		}
		m.vias[path.Via] = strings.Join(parts, ".")
	}
}

// pathRelations returns the number of relations of the model that lead to a subject.
func (m *model) pathRelations() int {
	n := 0
	for _, r := range m.Relations {
		if r.Path {
			n++
		}
	}
	return n
}

// viaOf returns the option "via" of a column. This option names the paths from a row to the person to whom the value
// belongs. viaOf replaces the names of the data map by names of Go fields. A name that is the beginning of several path
// names selects all these paths.
func (m *model) viaOf(text string) string {
	if text == "" {
		return ""
	}
	var names []string
	for said := range strings.SplitSeq(text, ",") {
		said = strings.TrimSpace(said)
		for via, name := range m.vias {
			if (via == said || strings.HasPrefix(via, said+".")) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// nameOwners sets the option "via" of a model that is owned: the paths on which an erasure deletes the rows. Unlike
// viaOf, it leaves out a path that a name in Table.Via does not reach.
func (m *model) nameOwners(dataMap datamap.DataMap) {
	if m.Via == "" {
		return
	}
	var names []string
	for _, path := range dataMap.Paths(m.Name) {
		if name := m.vias[path.Via]; dataMap.RowsDeleted(m.Table, path) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	m.owners = strings.Join(names, ",")
}
