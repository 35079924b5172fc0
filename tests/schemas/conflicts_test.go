package schemas

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// boarder has columns whose surrogates are the same for each person.
type boarder struct {
	bun.BaseModel `bun:"table:boarders"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	Badge         string `bun:"badge" pii:"identity,erasure:anonymize,surrogate:gone"`
	Door          string `bun:"door" pii:"location,erasure:null"`
}

// boarders returns the statements that create three boarders. A constraint concerns the column badge or the column
// door. The third boarder has the surrogate of this column.
func boarders(badge, door string, more ...string) []string {
	return append([]string{
		"CREATE TABLE boarders (id integer PRIMARY KEY, email text, badge text " + badge + ", door text " + door + ")",
		"CREATE TABLE labels (label text UNIQUE, n integer DEFAULT 0)",
		"INSERT INTO boarders VALUES (1, 'a@example.org', 'a', 'A'), (2, 'b@example.org', 'b', 'B')," +
			" (3, 'c@example.org', 'gone', 'C')",
		"INSERT INTO labels (label) VALUES ('gone')",
	}, more...)
}

// Each of these triggers states a conflict clause itself. An UPDATE with a clause of its own would break it.
var statesClause = map[string]string{
	"no trigger":          "",
	"a trigger":           "SELECT 1;",
	"INSERT OR IGNORE":    "INSERT OR IGNORE INTO labels (label) VALUES (NEW.badge);",
	"INSERT OR REPLACE":   "INSERT OR REPLACE INTO labels (label) VALUES (NEW.badge);",
	"REPLACE":             "REPLACE INTO labels (label) VALUES (NEW.badge);",
	"UPDATE OR IGNORE":    "UPDATE OR IGNORE labels SET label = 'gone' WHERE label = OLD.badge;",
	"an upsert":           "INSERT INTO labels (label) VALUES (NEW.badge) ON CONFLICT (label) DO UPDATE SET n = n + 1;",
	"an upsert that does": "INSERT INTO labels (label) VALUES (NEW.badge) ON CONFLICT DO NOTHING;",
}

// A constraint of the table ignores or replaces rows in a conflict. The erasure must fail instead, and change nothing,
// with each kind of trigger.
func TestAConflictClauseOfATableLosesNoRow(t *testing.T) {
	t.Parallel()
	for _, clause := range []string{"IGNORE", "REPLACE", "ROLLBACK", "FAIL", "ABORT"} {
		for name, code := range statesClause {
			t.Run(clause+", "+name, func(t *testing.T) {
				t.Parallel()
				statements := boarders("NOT NULL UNIQUE ON CONFLICT "+clause, "")
				if code != "" {
					statements = append(statements, sqliteTrigger("AFTER UPDATE", "boarders", code)...)
				}
				a := open(t, databases.SQLite(t), app.Config{Models: []any{(*boarder)(nil)}}, statements...)
				before := a.everything(t)
				result, err := a.erase(t.Context(), "1")
				if !errors.Is(err, domain.ErrConflict) && !errors.Is(err, domain.ErrLeftOver) {
					t.Errorf("erased %v, %v (%v)", result.Anonymized, err, errors.Unwrap(err))
				}
				_, err = a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryIdentity: "b"})
				if !errors.Is(err, domain.ErrConflict) && !errors.Is(err, domain.ErrLeftOver) {
					t.Errorf("corrected with %v", err)
				}
				if after := a.everything(t); !slices.Equal(after, before) {
					t.Errorf("the rows are %q, and were %q", after, before)
				}
				execute(t, a.db, "DELETE FROM boarders WHERE id = 3")
				if result, err := a.erase(t.Context(), "1"); err != nil || result.Anonymized["boarders"] != 1 {
					t.Errorf("erased %v, %v (%v)", result.Anonymized, err, errors.Unwrap(err))
				}
				if n := a.count(t, "SELECT count(*) FROM boarders WHERE email = 'b@example.org'"); n != 1 {
					t.Error("another person's row is gone")
				}
			})
		}
	}
}

func (a *application) everything(t testing.TB) (rows []string) {
	t.Helper()
	must(t, a.db.NewRaw("SELECT id || email || badge || door FROM boarders UNION ALL SELECT n || label FROM labels"+
		" ORDER BY 1").Scan(t.Context(), &rows))
	return rows
}

// A trigger changes another table, whose constraint ignores or replaces rows in a conflict.
func TestAConflictClauseBehindATriggerLosesNoRow(t *testing.T) {
	t.Parallel()
	for _, clause := range []string{"IGNORE", "REPLACE"} {
		t.Run(clause, func(t *testing.T) {
			a := open(t, databases.SQLite(t), app.Config{Models: []any{(*boarder)(nil)}}, append(boarders("", "",
				"CREATE TABLE doors (id integer PRIMARY KEY, badge text UNIQUE ON CONFLICT "+clause+")",
				"INSERT INTO doors VALUES (1, 'a'), (3, 'gone')"),
				sqliteTrigger("AFTER UPDATE", "boarders", "UPDATE doors SET badge = NEW.badge WHERE id = NEW.id;")...)...)
			result, err := a.erase(t.Context(), "1")
			if !errors.Is(err, domain.ErrConflict) {
				t.Errorf("erased %v, %v", result, err)
			}
			_, err = a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryIdentity: "gone"})
			if !errors.Is(err, domain.ErrConflict) {
				t.Errorf("corrected with %v", err)
			}
			if got := a.cells(t, "SELECT group_concat(badge, ' '), count(*) FROM doors"); got != "a gone 2" {
				t.Errorf("the doors are %s", got)
			}
		})
	}
}

// Another person holds the surrogate of a retained cell whose duty has ended. The sweep and the correction must fail
// and change nothing, with each kind of trigger.
func TestAConflictClauseOfASweptColumnLosesNoRow(t *testing.T) {
	t.Parallel()
	for _, clause := range []string{"IGNORE", "REPLACE"} {
		for name, code := range statesClause {
			t.Run(clause+", "+name, func(t *testing.T) {
				t.Parallel()
				statements := []string{
					"CREATE TABLE boarders (id integer PRIMARY KEY, email text, door text UNIQUE ON CONFLICT " + clause +
						", since timestamp)", "CREATE TABLE labels (label text UNIQUE, n integer DEFAULT 0)",
					"INSERT INTO boarders VALUES (1, 'a@example.org', 'A', '2010-01-01'), (2, 'b@example.org', 'none', '2014-01-01')",
				}
				if code != "" {
					code = strings.NewReplacer("NEW.badge", "NEW.door", "OLD.badge", "OLD.door").Replace(code)
					statements = append(statements, sqliteTrigger("AFTER UPDATE", "boarders", code)...)
				}
				clock := fixture.NewClock(time.Date(2015, 3, 1, 12, 0, 0, 0, time.UTC))
				a := open(t, databases.SQLite(t), app.Config{Models: []any{(*sublet)(nil)}, Clock: clock}, statements...)
				_, err := a.correct(t.Context(), "1",
					domain.Correction{Table: "boarders", Column: "door", Row: "1", Value: "none"})
				if !errors.Is(err, domain.ErrConflict) && !errors.Is(err, domain.ErrLeftOver) {
					t.Errorf("corrected with %v", err)
				}
				_, err = a.erase(t.Context(), "1")
				must(t, err)
				clock.Advance(8 * 366 * 24 * time.Hour)
				if report, err := a.Operator().Sweep(t.Context(), nil); err == nil && report.Failed == 0 {
					t.Errorf("swept %+v", report)
				}
				if got := a.cells(t, "SELECT group_concat(door, ' '), count(*) FROM boarders"); got != "A none 2" {
					t.Errorf("the doors are %s", got)
				}
			})
		}
	}
}

// sublet has a retained column whose surrogate is the same for each person.
type sublet struct {
	bun.BaseModel `bun:"table:boarders"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Email         string    `bun:"email" pii:"contact,erasure:anonymize"`
	Door          string    `bun:"door" pii:"location,erasure:retain,reason:'tax law',retain:10y,since:since,surrogate:none"`
	Since         time.Time `bun:"since"`
}

// The column is NOT NULL, and its constraint writes the default instead of NULL.
func TestAConflictClauseOfAClearedColumnWritesNoDefault(t *testing.T) {
	t.Parallel()
	for _, clause := range []string{"IGNORE", "REPLACE"} {
		a := open(t, databases.SQLite(t), app.Config{Models: []any{(*boarder)(nil)}},
			boarders("", "DEFAULT 'A' NOT NULL ON CONFLICT "+clause)...)
		before := a.everything(t)
		if _, err := a.erase(t.Context(), "1"); err == nil || !slices.Equal(a.everything(t), before) {
			t.Errorf("%s: got %v, %q", clause, err, a.everything(t))
		}
	}
}

// The cell is empty, so it keeps nothing old. The database leaves its row out.
func TestARowThatTheDatabaseLeavesOutIsCounted(t *testing.T) {
	t.Parallel()
	type badge struct {
		bun.BaseModel `bun:"table:boarders"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Badge         string `bun:"badge" pii:"identity,erasure:anonymize,surrogate:gone"`
	}
	for name, code := range map[string]string{
		"IGNORE": "INSERT OR IGNORE INTO labels (label) VALUES (NEW.badge);",
		"":       "SELECT RAISE(IGNORE) WHERE NEW.id = 1;",
	} {
		a := open(t, databases.SQLite(t), app.Config{Models: []any{(*badge)(nil)}}, append([]string{
			"CREATE TABLE boarders (id integer PRIMARY KEY, badge text UNIQUE ON CONFLICT IGNORE)",
			"CREATE TABLE labels (label text UNIQUE)", "INSERT INTO boarders VALUES (1, ''), (2, 'gone')",
		}, sqliteTrigger("BEFORE UPDATE", "boarders", code)...)...)
		if result, err := a.erase(t.Context(), "1"); !errors.Is(err, domain.ErrConflict) {
			t.Errorf("%s: erased %v, %v", name, result.Anonymized, err)
		}
	}
}

// REPLACE deletes the row of another person and inserts it again, with another value or for the first time.
func TestARowThatATriggerReplacesIsCounted(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int64{"2": 1, "4": 0} {
		a := open(t, databases.SQLite(t), app.Config{Models: []any{(*boarder)(nil)}}, append(boarders("", ""),
			sqliteTrigger("AFTER UPDATE", "boarders", "REPLACE INTO boarders VALUES ("+id+", 'x', 'x', 'x');")...)...)
		if result, err := a.erase(t.Context(), "1"); err != nil || result.Cascaded["boarders"] != want {
			t.Errorf("%s: erased %v, %v", id, result, err)
		}
	}
}
