package schemas

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// visitor maps a table, whose rows a subject has, and note maps a view of the table all_notes.
type visitor struct {
	bun.BaseModel `bun:"table:visitors"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

type visitorNote struct {
	bun.BaseModel `bun:"table:notes"`
	ID            int64    `bun:"id,pk"`
	VisitorID     int64    `bun:"visitor_id"`
	Visitor       *visitor `bun:"rel:belongs-to,join:visitor_id=id"`
	Body          string   `bun:"body" pii:"communication,erasure:retain,reason:'law'"`
}

type trustedNote struct {
	bun.BaseModel `bun:"table:notes" subject:"trusted"`
	ID            int64    `bun:"id,pk"`
	VisitorID     int64    `bun:"visitor_id"`
	Visitor       *visitor `bun:"rel:belongs-to,join:visitor_id=id"`
	Body          string   `bun:"body" pii:"communication,erasure:retain,reason:'law'"`
}

var noteTables = []string{
	"CREATE TABLE visitors (id bigint PRIMARY KEY, email text)",
	"CREATE TABLE all_notes (id bigint PRIMARY KEY, visitor_id bigint, body text, hidden text)",
	"INSERT INTO visitors VALUES (1, 'a@example.org')",
	"INSERT INTO all_notes (id, visitor_id, body) VALUES (1, 1, 'dear'), (2, 2, 'dear')",
}

// A view that is not plain is refused, unless the data map trusts it. Lint reports the same views as errors, and lists
// trusted ones.
func TestOnlyPlainAndTrustedViewsAreAccepted(t *testing.T) {
	t.Parallel()
	const both, postgres, sqlite = "both", "PostgreSQL", "SQLite"
	for name, test := range map[string]struct {
		on    string
		plain bool
		views []string
	}{
		"columns":     {both, true, []string{"CREATE VIEW notes AS SELECT id, visitor_id, body FROM all_notes"}},
		"all columns": {both, true, []string{"CREATE VIEW notes AS SELECT * FROM all_notes"}},
		"qualified columns": {both, true, []string{
			"CREATE VIEW notes AS SELECT all_notes.id, visitor_id, body FROM all_notes",
		}},
		"named columns": {both, true, []string{
			"CREATE VIEW notes (id, visitor_id, body) AS SELECT id, visitor_id, hidden FROM all_notes",
		}},
		"renamed columns": {both, true, []string{
			"CREATE VIEW notes AS SELECT id, visitor_id, hidden AS body FROM all_notes",
		}},
		"a condition": {both, false, []string{"CREATE VIEW notes AS SELECT * FROM all_notes WHERE hidden IS NULL"}},
		"a join": {both, false, []string{
			"CREATE VIEW notes AS SELECT n.id, n.visitor_id, n.body FROM all_notes n JOIN visitors v ON v.id = n.visitor_id",
		}},
		"two tables": {both, false, []string{
			"CREATE VIEW notes AS SELECT n.id, n.visitor_id, n.body FROM all_notes n, visitors v",
		}},
		"distinct": {both, false, []string{
			"CREATE VIEW notes AS SELECT DISTINCT id, visitor_id, body FROM all_notes",
		}},
		"a limit": {both, false, []string{"CREATE VIEW notes AS SELECT * FROM all_notes LIMIT 1"}},
		"a union": {both, false, []string{
			"CREATE VIEW notes AS SELECT * FROM all_notes UNION SELECT * FROM all_notes",
		}},
		"an expression": {both, false, []string{
			"CREATE VIEW notes AS SELECT id, visitor_id, substr(body, 1, 1) AS body FROM all_notes",
		}},
		"a constant": {both, false, []string{
			"CREATE VIEW notes AS SELECT id, visitor_id, 'x' AS body FROM all_notes",
		}},
		"no value": {both, false, []string{
			"CREATE VIEW notes AS SELECT id, visitor_id, NULL AS body FROM all_notes",
		}},
		"a subquery": {both, false, []string{
			"CREATE VIEW notes AS SELECT * FROM (SELECT * FROM all_notes LIMIT 1) AS n",
		}},
		"a function": {postgres, false, []string{
			"CREATE VIEW notes AS SELECT n.id, n.visitor_id, n.body FROM all_notes n, generate_series(1, 0)",
		}},
		"the parent only": {postgres, false, []string{"CREATE VIEW notes AS SELECT * FROM ONLY all_notes"}},
		"a sample": {postgres, false, []string{
			"CREATE VIEW notes AS SELECT * FROM all_notes TABLESAMPLE system (1) REPEATABLE (1)",
		}},
		"a word in a name": {postgres, false, []string{
			`CREATE VIEW notes AS SELECT id, visitor_id, body, hidden AS "where" FROM all_notes`,
		}},
		"an unmapped column": {postgres, true, []string{
			"CREATE VIEW notes AS SELECT *, length(body) AS size FROM all_notes",
		}},
		"a plain view of a plain view": {postgres, true, []string{
			"CREATE VIEW some_notes AS SELECT * FROM all_notes", "CREATE VIEW notes AS SELECT * FROM some_notes",
		}},
		"a view of a filtering view": {both, false, []string{
			"CREATE VIEW some_notes AS SELECT * FROM all_notes WHERE hidden IS NULL",
			"CREATE VIEW notes AS SELECT * FROM some_notes",
		}},
		"a view of a view with a trigger": {postgres, false, append([]string{
			"CREATE VIEW some_notes AS SELECT * FROM all_notes", "CREATE VIEW notes AS SELECT * FROM some_notes",
		}, function("INSTEAD OF DELETE", "some_notes", "RETURN OLD;")...)},
		"a rule": {postgres, false, []string{
			"CREATE VIEW notes AS SELECT * FROM all_notes", "CREATE RULE guard AS ON DELETE TO notes DO INSTEAD NOTHING",
		}},
		"a trigger": {postgres, false, append([]string{"CREATE VIEW notes AS SELECT * FROM all_notes"},
			function("INSTEAD OF DELETE", "notes", "RETURN OLD;")...)},
		"a trigger of SQLite": {sqlite, false, []string{
			"CREATE VIEW notes AS SELECT * FROM all_notes",
			"CREATE TRIGGER guard INSTEAD OF DELETE ON notes BEGIN SELECT 1; END",
		}},
		"a comment": {sqlite, true, []string{`CREATE VIEW IF NOT EXISTS "notes" AS SELECT id, -- WHERE
			[visitor_id], "body" FROM main."all_notes"`}},
		"a text as a column": {sqlite, false, []string{
			`CREATE VIEW notes AS SELECT id, visitor_id, "dear" AS body FROM all_notes`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				if test.on == postgres && !isPostgres(db) || test.on == sqlite && isPostgres(db) {
					return
				}
				open(t, db, app.Config{Models: []any{(*visitor)(nil), (*visitorNote)(nil)}},
					slices.Concat(noteTables, test.views)...).
					acceptsView(t, test.plain, "view-mapped")
				open(t, db, app.Config{Models: []any{(*visitor)(nil), (*trustedNote)(nil)}}).acceptsView(t, true, "view-trusted")
				open(t, db, app.Config{Models: []any{(*visitor)(nil), (*visitorNote)(nil)}, TrustRowFilters: true}).
					acceptsView(t, true, "")
			})
		})
	}
}

// acceptsView checks whether an erasure, an export and a correction accept the view notes, and that lint reports a
// finding with the code if they do not, or if the view is trusted.
func (a *application) acceptsView(t *testing.T, accepted bool, code string) {
	t.Helper()
	_, erasing := a.erase(t.Context(), "1")
	_, exporting := a.export(t.Context(), "1")
	operations := map[string]error{"erase": erasing, "export": exporting}
	if !accepted { // a person who was erased cannot be corrected
		_, operations["rectify"] = a.rectify(t.Context(), "1", corrected)
	}
	for what, err := range operations {
		if accepted && err != nil {
			t.Errorf("%s: got %v (%v)", what, err, errors.Unwrap(err))
		}
		if !accepted && (!errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), "notes: ")) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	checked, err := a.check(t.Context())
	must(t, err)
	var codes []string
	for _, finding := range checked.Findings {
		if strings.HasPrefix(finding.Code, "view-") {
			codes = append(codes, finding.Code)
		}
	}
	want := []string{code}
	if code == "" || code == "view-mapped" && accepted {
		want = nil
	}
	if !slices.Equal(codes, want) {
		t.Errorf("lint found %v, want %v", codes, want)
	}
}

// A trigger of the table below a plain view keeps the old address in a column that the view does not show, or that only
// an inheriting table has. The store cannot look there, so the erasure is refused.
func TestAColumnThatTheStoreDoesNotSeeIsRefused(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"below a view": {
			"CREATE TABLE all_visitors (id bigint PRIMARY KEY, email text, old_email text)",
			"CREATE VIEW visitors AS SELECT id, email FROM all_visitors",
		},
		"of an inheriting table": {
			"CREATE TABLE visitors (id bigint PRIMARY KEY, email text)",
			"CREATE TABLE all_visitors (old_email text) INHERITS (visitors)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			models := []any{(*visitor)(nil)}
			statements := append(statements, "INSERT INTO all_visitors VALUES (1, 'a@example.org')")
			a := open(t, onPostgres(t), app.Config{Models: models}, slices.Concat(statements,
				function("BEFORE UPDATE", "all_visitors", "NEW.old_email := OLD.email; RETURN NEW;"))...)
			_, err := a.erase(t.Context(), "1")
			if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), "visitors.old_email") {
				t.Errorf("got %v", err)
			}
			execute(t, a.db, "ALTER TABLE all_visitors DISABLE TRIGGER guard")
			_, err = a.erase(t.Context(), "1")
			must(t, err)
		})
	}
}
