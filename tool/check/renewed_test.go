package check_test

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
)

// An erasure fails if a trigger gives the retention period of a retained row another start.
func TestATriggerThatRenewsTheStartOfARetentionPeriodIsFound(t *testing.T) {
	street := `, {"name": "street", "type": "text", "personal": {"category": "location", "erasure": "retain",
		"reason": "law", "retain": "8y", "since": "changed_at"}}, {"name": "changed_at", "type": "time"}`
	for code, want := range map[string][]string{
		"NEW.changed_at := now();":                  {"trigger-refuses users keep"},
		"NEW.changed_at := coalesce(NULL, now());":  {"trigger-refuses users keep"},
		"NEW.changed_at := OLD.changed_at;":         nil,
		"NEW.created_at := now();":                  nil,
		"NEW.email := NEW.email || NEW.changed_at;": nil,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			_, found := liveFindings(t, liveCase{
				columns: street, statements: append([]string{
					"ALTER TABLE users ADD COLUMN street text, ADD COLUMN changed_at timestamptz",
				}, beforeUsers(code)...),
			})
			var got []string
			for _, f := range found {
				if f.Code == "trigger-refuses" {
					got = append(got, f.Code+" "+f.Where()+" "+f.Object)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestATriggerOfSQLiteRenewsAColumnByAnUpdate(t *testing.T) {
	users := datamap.CatalogTable{
		Name: "users", FoldsCase: true, Columns: []datamap.CatalogColumn{{Name: "id"}, {Name: "changed_at"}},
	}
	effects := triggers.Read(users, datamap.CatalogTrigger{
		Name: "touch", Events: []string{"UPDATE"}, Definition: `CREATE TRIGGER touch AFTER UPDATE ON users BEGIN
			UPDATE users SET Changed_At = CURRENT_TIMESTAMP WHERE id = NEW.id; END`,
	})
	if !slices.Equal(effects.Renews, []string{"changed_at"}) {
		t.Errorf("the trigger renews %q", effects.Renews)
	}
}
