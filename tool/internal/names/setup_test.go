package names_test

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// split parses "table.column" or "table.column type". The default type is text.
func split(place string) (table, column string, t datamap.ColumnType) {
	place, typ, found := strings.Cut(place, " ")
	if !found {
		typ = string(datamap.TypeText)
	}
	i := strings.LastIndexByte(place, '.')
	return place[:i], place[i+1:], datamap.ColumnType(typ)
}

func guess(place string) (domain.Category, string, bool) {
	m, ok := names.Find(split(place))
	return m.Category, m.Reason(), ok
}
