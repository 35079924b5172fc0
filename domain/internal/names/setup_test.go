package names_test

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/names"
)

// split reads "table.column", or "table.column type"; the type is text if none is given.
func split(place string) (table, column string, t domain.ColumnType) {
	place, typ, found := strings.Cut(place, " ")
	if !found {
		typ = string(domain.TypeText)
	}
	i := strings.LastIndexByte(place, '.')
	return place[:i], place[i+1:], domain.ColumnType(typ)
}

func guess(place string) (domain.Category, string, bool) {
	table, column, t := split(place)
	return names.Guess(table, column, t)
}
