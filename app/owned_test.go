package app_test

import (
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// Guest is a person whose row goes with her. Theme has no annotation.
type Guest struct {
	bun.BaseModel `bun:"table:guests" subject:"owned"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact"`
	Theme         string `bun:"theme"`
}

const guests = `{"manifest_version": 2, "tables": [
	{"name": "guests", "primary_key": ["id"], "subject_key": ["id"], "owned": true, "columns": [
		{"name": "id", "type": "bigint"}, {"name": "theme", "type": "text"},
		{"name": "email", "type": "text", "personal": {"category": "contact"}}]}]}`

func TestOneWordSaysThatTheRowOfThePersonGoes(t *testing.T) {
	ofManifest, err := manifest.Read(strings.NewReader(guests))
	must(t, err)
	for name, config := range map[string]app.Config{
		"tags": {Models: []any{(*Guest)(nil)}}, "manifest": {DataMap: ofManifest},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
				databases.Create(t, db, (*Guest)(nil))
				databases.Insert(t, db, &[]Guest{
					{ID: 1, Email: "zoe@example.org", Theme: "dark"}, {ID: 2, Email: "max@example.org", Theme: "light"},
				})
				config.DB = db
				gdpr, err := app.New(config)
				must(t, err)
				subject, err := domain.NewSubject("1")
				must(t, err)
				result, err := gdpr.Operator().Erase(t.Context(), subject)
				must(t, err)
				var left []int64
				must(t, db.NewSelect().Model((*Guest)(nil)).Column("id").Scan(t.Context(), &left))
				if result.Deleted["guests"] != 1 || len(left) != 1 || left[0] != 2 {
					t.Errorf("deleted %v, and the guests %v are left", result.Deleted, left)
				}
			})
		})
	}
}
