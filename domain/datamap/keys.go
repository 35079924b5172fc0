package datamap

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// MaxKeys is the maximum number of keys of an external system (see Annotation.Ref) in one call of a resolver and in one
// outbox entry.
const MaxKeys = 100

// Refs returns the names of the resolvers in Annotation.Ref of all columns. Each name occurs once, in the order of the
// tables and columns.
func (m DataMap) Refs() []string {
	var names []string
	for _, table := range m.tables {
		for _, column := range table.Personal() {
			if name := column.Personal.Ref; name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// RefColumns returns the columns of the table that hold keys of the resolver's external system.
func (t Table) RefColumns(resolver string) []Column {
	return slices.DeleteFunc(t.Personal(), func(c Column) bool { return resolver == "" || c.Personal.Ref != resolver })
}

// checkRef checks a column that holds keys of an external system.
func checkRef(column Column, report func(domain.Problem)) {
	name := column.Personal.Ref
	if name == "" {
		return
	}
	if len(domain.CheckText("ref", name, 1)) > 0 || strings.Contains(name, ",") {
		report(domain.Problem{
			Message: "has a ref that cannot be the name of a resolver", Found: name,
			Remedy: "give the name of a resolver: 1 to 255 characters without a comma",
		})
	}
	if column.Type.Valid() && !column.Type.canBeKey() {
		report(domain.Problem{
			Message: "has a ref, but its type cannot hold the key of an external system", Found: string(column.Type),
			Possible: texts(keyTypes()),
		})
	}
}
