package plan

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

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
func SelectsKeys(
	m datamap.DataMap, query KeyQuery, table datamap.Table, column datamap.Column, path datamap.Path,
) bool {
	if query.Cells != nil && (query.Cells.Table != table.Name || query.Cells.Column != column.Name) {
		return false
	}
	return path.Has(column) || query.Held || !query.ErasedAt.IsZero() && m.RowsDeleted(table, path)
}

// Keeps reports whether no erasure overwrites the cells of a column. A retained column keeps its cells if its retention
// duty has no end, or if the column is a key (see IsKey).
func Keeps(m datamap.DataMap, table datamap.Table, column datamap.Column) bool {
	return column.Personal != nil && column.Personal.Strategy == domain.StrategyRetain &&
		(column.Personal.Since == "" || m.IsKey(table, column.Name))
}

// IsErasedKey reports whether a text, found in a column with keys of the resolver's external system, is certainly a
// surrogate. It returns false for a surrogate that could also be a key, because no key may be lost. Such a surrogate is
// a random UUID, or hexadecimal digits in a text column of up to 16 characters.
func IsErasedKey(m datamap.DataMap, resolver, text string) bool {
	return slices.ContainsFunc(m.Tables(), func(t datamap.Table) bool {
		return slices.ContainsFunc(t.RefColumns(resolver), func(c datamap.Column) bool { return isCertainSurrogate(c, text) })
	})
}

// isCertainSurrogate reports whether the text is a surrogate of the column, and is not a possible key of an external
// system.
func isCertainSurrogate(c datamap.Column, text string) bool {
	if constant, ok := c.Constant(); ok {
		return c.Digits() == 0 && text == constant || IsFilled(c, text)
	}
	switch c.Type { //nolint:exhaustive // values of the other types may be the application's own
	case datamap.TypeText:
		prefix, _ := c.Default()
		return prefix != "" && isAnonymous(c, text)
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		return text == "0"
	default:
		return false
	}
}
