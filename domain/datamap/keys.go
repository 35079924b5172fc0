package datamap

import (
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// MaxKeys is the maximum number of keys of an external system (see Annotation.Ref) in one call of a resolver and in one
// outbox entry.
const MaxKeys = 100

// KeyQuery selects keys in a subject's rows. These keys name objects in one external system, such as files. See
// Annotation.Ref.
type KeyQuery struct {
	Resolver string // the name of the resolver of the external system

	// ErasedAt is the instant of an erasure or of a sweep, or zero. If it is set, the query selects the keys in the cells
	// that this operation erases. It skips each key that another cell in the subject's rows still holds afterwards, such
	// as a retained cell.
	ErasedAt time.Time

	DutiesSince time.Time // the same as Step.DutiesSince, for the keys in the cells of a sweep

	Cells *KeyCells // only keys in these cells; nil for all cells

	// Held also selects keys in cells of the subject's rows that belong only to other people. A rectification sets it to
	// learn which keys the rows still hold.
	Held bool

	After string // only keys after this key, compared byte by byte; empty for all keys
	Limit int    // the maximum number of keys; 0 or less selects no key
}

// KeyCells are the cells of a column in the subject's rows. A rectification overwrites these cells.
type KeyCells struct {
	Table, Column string
	Row           string // the row, as domain.ExportRecord.Row names it; "" for all rows of the subject
}

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

// SelectsKeys reports whether the query selects the keys in a column, for the rows that the path connects to a subject.
// A query without Cells selects them in three cases:
//
//   - The column belongs to this subject.
//   - The operation is an erasure that deletes the rows.
//   - KeyQuery.Held is true.
//
// A query with Cells selects only keys in the column that Cells names.
//
// Several paths may connect one row to the subject. The query selects a cell if it selects the cell on one of them.
func (m DataMap) SelectsKeys(query KeyQuery, table Table, column Column, path Path) bool {
	if query.Cells != nil && (query.Cells.Table != table.Name || query.Cells.Column != column.Name) {
		return false
	}
	return path.Has(column) || query.Held || !query.ErasedAt.IsZero() && m.RowsDeleted(table, path)
}

// Keeps reports whether no erasure overwrites the cells of a column. A retained column keeps its cells if its retention
// duty has no end, or if the column is a key (see IsKey).
func (m DataMap) Keeps(table Table, column Column) bool {
	return column.Personal != nil && column.Personal.Strategy == domain.StrategyRetain &&
		(column.Personal.Since == "" || m.IsKey(table, column.Name))
}

// IsErasedKey reports whether a text, found in a column with keys of the resolver's external system, is certainly a
// surrogate. It returns false for a surrogate that could also be a key, because no key may be lost. Such a surrogate is
// a random UUID, or hexadecimal digits in a text column of up to 16 characters.
func (m DataMap) IsErasedKey(resolver, text string) bool {
	return slices.ContainsFunc(m.tables, func(t Table) bool {
		return slices.ContainsFunc(t.RefColumns(resolver), func(c Column) bool { return c.isCertainSurrogate(text) })
	})
}

// isCertainSurrogate reports whether the text is a surrogate of the column, and is not a possible key of an external
// system.
func (c Column) isCertainSurrogate(text string) bool {
	if constant, ok := c.Constant(); ok {
		return c.Digits() == 0 && text == constant || c.IsFilled(text)
	}
	switch {
	case c.Type == TypeText:
		prefix, _ := c.Default()
		return prefix != "" && c.isAnonymous(text)
	case c.Type.bits() > 0:
		return text == "0"
	default:
		return false
	}
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
