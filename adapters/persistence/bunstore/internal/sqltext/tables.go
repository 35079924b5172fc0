package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// Tables holds the quoted names of the tables of habeas for one data map. Index and Function names begin with Prefix,
// too. IsErased is a function of PostgreSQL that reports whether a subject was erased. It sees the marks (the rows of
// erasures) that were committed before its call, even if its statement began earlier.
type Tables struct {
	Prefix                                                                                           string
	Consents, Restrictions, Events, Outbox, Erasures, Positions, Installation, Ancestors, Migrations string
	IsErased                                                                                         string
}

// TableNames are the names of all tables of habeas, without the prefix that datamap.ObjectPrefix returns.
func TableNames() []string {
	return []string{
		"migrations", "consent_records", "restriction_records", "audit_events", "outbox", "subject_erasures", "positions",
		"installation", "ancestors",
	}
}

// OwnNames is a regular expression, also of PostgreSQL, for the names of the tables of habeas, of every data map. The
// first group is the prefix of the data map (see datamap.ObjectPrefix), and the second group is one of TableNames.
func OwnNames() string {
	return `^(habeas_(?:[a-z0-9]{1,20}_)?)(` + strings.Join(TableNames(), "|") + `)$`
}

// TablesIn returns the quoted names of the tables of habeas in a schema, for the data map with the given name. If
// schema is "", the names have no schema.
func TablesIn(schema, name string) Tables {
	prefix := datamap.ObjectPrefix(name)
	before := prefix
	if schema != "" {
		before = Quote(schema) + "." + prefix
	}
	return Tables{
		Prefix:       prefix,
		Consents:     before + "consent_records",
		Restrictions: before + "restriction_records",
		Events:       before + "audit_events",
		Outbox:       before + "outbox",
		Erasures:     before + "subject_erasures",
		Positions:    before + "positions",
		Installation: before + "installation",
		Ancestors:    before + "ancestors",
		Migrations:   before + "migrations",

		IsErased: before + "is_erased",
	}
}

// fill replaces each {name} in a statement by a text. The parameter replacements is a list of pairs of a name and its
// text. In addition, fill replaces {consents}, {outbox} and so on by the names of these tables of habeas, and {prefix}
// by Tables.Prefix.
func (t Tables) fill(statement string, replacements ...string) string {
	return fill(statement, append(replacements, "consents", t.Consents, "restrictions", t.Restrictions, "events", t.Events,
		"outbox", t.Outbox, "erasures", t.Erasures, "positions", t.Positions, "installation", t.Installation,
		"ancestors", t.Ancestors, "migrations", t.Migrations, "is erased", t.IsErased, "prefix", t.Prefix)...)
}

// fill replaces each {name} in a statement by a text. The parameter replacements is a list of pairs of a name and its
// text. fill does not change other braces.
func fill(statement string, replacements ...string) string {
	var filled strings.Builder
	rest := strings.TrimSpace(statement)
	for {
		before, after, found := strings.Cut(rest, "{")
		filled.WriteString(before)
		if !found {
			return filled.String()
		}
		name, behind, _ := strings.Cut(after, "}")
		text, ok := replacementOf(name, replacements)
		if !ok {
			text, behind = "{", after
		}
		filled.WriteString(text)
		rest = behind
	}
}

func replacementOf(name string, replacements []string) (text string, ok bool) {
	for i := 0; i+1 < len(replacements); i += 2 {
		if replacements[i] == name {
			return replacements[i+1], true
		}
	}
	return "", false
}

// ownTables returns the names of all tables of habeas for the data map with the given name, as a list of SQL constants.
func ownTables(name string) string {
	own := TableNames()
	for i, table := range own {
		own[i] = literal(datamap.ObjectPrefix(name) + table)
	}
	return strings.Join(own, ", ")
}

// areQualified reports whether the names of the tables have a schema.
func (t Tables) areQualified() bool { return !strings.HasPrefix(t.Outbox, t.Prefix) }
