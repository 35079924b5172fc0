package syntax

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Tables holds the quoted names of the tables of habeas for one data map. Index and Function names begin with Prefix,
// too. IsErased is a function of PostgreSQL that reports whether a subject was erased. It sees the marks (the rows of
// erasures) that were committed before its call, even if its statement began earlier.
type Tables struct {
	Prefix                                                                                           string
	Consents, Restrictions, Events, Outbox, Erasures, Positions, Installation, Ancestors, Migrations string
	IsErased                                                                                         string
}

// Fill replaces each {name} in a statement by a text. The parameter replacements is a list of pairs of a name and its
// text. In addition, Fill replaces {consents}, {outbox} and so on by the names of these tables of habeas, and {prefix}
// by Tables.Prefix.
func (t Tables) Fill(statement string, replacements ...string) string {
	return Fill(statement, append(replacements, "consents", t.Consents, "restrictions", t.Restrictions, "events", t.Events,
		"outbox", t.Outbox, "erasures", t.Erasures, "positions", t.Positions, "installation", t.Installation,
		"ancestors", t.Ancestors, "migrations", t.Migrations, "is erased", t.IsErased, "prefix", t.Prefix)...)
}

// AreQualified reports whether the names of the tables have a schema.
func (t Tables) AreQualified() bool { return !strings.HasPrefix(t.Outbox, t.Prefix) }

// TableNames are the names of all tables of habeas, without the prefix that domain.ObjectPrefix returns.
func TableNames() []string {
	return []string{
		"migrations", "consent_records", "restriction_records", "audit_events", "outbox", "subject_erasures", "positions",
		"installation", "ancestors",
	}
}

// OwnNames is a regular expression, also of PostgreSQL, for the names of the tables of habeas, of every data map. The
// first group is the prefix of the data map (see domain.ObjectPrefix), and the second group is one of TableNames.
func OwnNames() string {
	return `^(habeas_(?:[a-z0-9]{1,20}_)?)(` + strings.Join(TableNames(), "|") + `)$`
}

// TablesIn returns the quoted names of the tables of habeas in a schema, for the data map with the given name. If
// schema is "", the names have no schema.
func TablesIn(schema, name string) Tables {
	prefix := domain.ObjectPrefix(name)
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

// OwnTables returns the names of all tables of habeas for the data map with the given name, as a list of SQL constants.
func OwnTables(name string) string {
	own := TableNames()
	for i, table := range own {
		own[i] = Literal(domain.ObjectPrefix(name) + table)
	}
	return strings.Join(own, ", ")
}

// QualifiedName returns the quoted name of a table with its schema. The name does not depend on the search path.
func QualifiedName(table domain.CatalogTable) string {
	return Quote(table.Schema) + "." + Quote(strings.TrimPrefix(table.Name, table.Schema+"."))
}
