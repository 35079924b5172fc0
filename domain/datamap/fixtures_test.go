package datamap_test

import (
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

var (
	mustID, mustMap, wantCode = fixture.MustID, fixture.MustMap, fixture.WantCode
	column, contact           = fixture.Column, fixture.Contact
	users, child, belongsTo   = fixture.Users, fixture.Child, fixture.BelongsTo
	messagesTable             = fixture.Messages
)

// pathOf returns the relations of the only path of a table, or nil.
func pathOf(m datamap.DataMap, table string) []datamap.Relation {
	if paths := m.Paths(table); len(paths) == 1 && paths[0].Via == "" {
		return paths[0].Relations
	}
	return nil
}
