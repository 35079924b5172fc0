package domain

import (
	"slices"
	"strings"
	"time"
)

// MaxKeys is how many keys one call of a resolver and one outbox entry have at most.
const MaxKeys = 100

// KeyQuery chooses keys of an external system that a subject's rows hold, see Annotation.Ref.
type KeyQuery struct {
	Resolver string // the system

	// ErasedAt leaves out the cells that an erasure at that instant keeps: those with a duty to retain them that goes on.
	// The zero time leaves out none.
	ErasedAt time.Time

	After string // only keys that come after this one, byte by byte; empty for all
	Limit int    // the first ones, up to this number; 0 or less for none
}

// Refs returns the names of the external systems whose keys the columns of the data map hold, each once and in the
// order of the tables and columns.
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

// KeysOf returns the columns of the table that hold keys of an external system.
func (t Table) KeysOf(resolver string) []Column {
	return slices.DeleteFunc(t.Personal(), func(c Column) bool { return resolver == "" || c.Personal.Ref != resolver })
}

// HandsOver reports whether the keys of a column are handed over for the rows that a path leads from: those of cells
// that belong to the subject, and when the subject is erased, also those of all cells that go with their row.
func (m DataMap) HandsOver(table Table, column Column, path Path, erased bool) bool {
	return path.Has(column) || erased && m.RowsGo(table, path)
}

// Keeps reports whether an erasure keeps the cells of a column whatever the instant: a duty without an end retains
// them, or a duty with an end retains a column that is never overwritten, see IsKey.
func (m DataMap) Keeps(table Table, column Column) bool {
	return column.Personal != nil && column.Personal.Strategy == StrategyRetain &&
		(column.Personal.Since == "" || m.IsKey(table, column.Name))
}

// IsErasedKey reports whether a text is no key of the external system, but what an erasure wrote in place of one into a
// column of the data map. A random UUID, and the digits in a text column of up to 16 characters, cannot be told from a
// key: they are taken for one, so that no key is lost.
func (m DataMap) IsErasedKey(resolver, text string) bool {
	return slices.ContainsFunc(m.tables, func(t Table) bool {
		return slices.ContainsFunc(t.KeysOf(resolver), func(c Column) bool { return c.overwrites(text) })
	})
}

// overwrites reports whether an erasure may have written the text into the column.
func (c Column) overwrites(text string) bool {
	if constant, ok := c.Constant(); ok {
		return c.Digits() == 0 && text == constant || c.IsFilled(text)
	}
	switch {
	case c.Type == TypeText:
		return anonymousText.MatchString(text) && c.isAnonymous(text)
	case c.Type.bits() > 0:
		return text == "0"
	default:
		return false
	}
}

// checkRef checks a column that holds keys of an external system.
func checkRef(column Column, report func(Problem)) {
	name := column.Personal.Ref
	if name == "" {
		return
	}
	if len(CheckText("ref", name, 1)) > 0 || strings.Contains(name, ",") {
		report(Problem{
			Message: "has a ref that cannot be the name of a resolver", Found: name,
			Remedy: "give the name of a resolver: 1 to 255 characters without a comma",
		})
	}
	if column.Type.Valid() && !column.Type.canBeKey() {
		report(Problem{
			Message: "has a ref, but its type cannot hold the key of an external system", Found: string(column.Type),
			Possible: words(keyTypes()),
		})
	}
}
