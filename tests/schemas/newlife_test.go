package schemas

import (
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type player struct {
	bun.BaseModel `bun:"table:players"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Level         int64     `bun:"level" pii:"behavioral,erasure:anonymize"`
	Active        bool      `bun:"active" pii:"technical,erasure:anonymize"`
	CreatedAt     time.Time `bun:"created_at"`
}

// The id of an erased person is given to another one, whose values are those that the erasure has written.
func TestAnExportMarksNoValueOfANewPersonAsErased(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]func(*testing.T) *bun.DB{
		"SQLite": func(t *testing.T) *bun.DB { t.Helper(); return databases.SQLite(t) }, "PostgreSQL": oddSettings,
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, empty(t), app.Config{Models: []any{(*player)(nil)}},
				"CREATE TABLE players (id integer PRIMARY KEY, level integer, active boolean, created_at timestamp)",
				"INSERT INTO players VALUES (1, 7, true, '2024-01-02 03:04:05.5')")
			marked := func() (n int) {
				bundle, err := a.export(t.Context(), "1")
				must(t, err)
				for _, record := range bundle.Records {
					if record.Erased {
						n++
					}
				}
				return n
			}
			_, err := a.erase(t.Context(), "1")
			must(t, err)
			if n := marked(); n != 2 {
				t.Errorf("%d values of the erased person are marked", n)
			}
			execute(t, a.db, "DELETE FROM players", "INSERT INTO players VALUES (1, 0, false, '2023-11-12 03:04:05.5')")
			if n := marked(); n != 2 {
				t.Errorf("%d values of a person who may be the erased one are marked", n)
			}
			execute(t, a.db, "UPDATE players SET created_at = '2024-02-01 03:04:05.5'")
			if n := marked(); n != 0 {
				t.Errorf("%d values of the new person are marked", n)
			}
		})
	}
}
