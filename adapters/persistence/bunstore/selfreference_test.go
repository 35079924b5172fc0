package bunstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// letters returns a data map of letters. A letter goes with its sender and with its recipient. It may answer another
// letter. If hasTwo is false, it has no recipient.
func letters(t *testing.T, hasTwo bool) datamap.DataMap {
	t.Helper()
	column := func(name string, kind datamap.ColumnType) datamap.Column {
		return datamap.Column{Name: name, Type: kind}
	}
	relation := func(name, column, to, key string, strategy domain.Strategy) datamap.Relation {
		return datamap.Relation{
			Name: name, Columns: []string{"tenant", column}, References: to, ReferencedColumns: []string{"tenant", key},
			Path: to == "people", OnErasure: strategy,
		}
	}
	table := datamap.Table{
		Name: "letters", PrimaryKey: []string{"tenant", "code"},
		Relations: []datamap.Relation{
			relation("Sender", "sender", "people", "number", domain.StrategyDelete),
			relation("Recipient", "recipient", "people", "number", domain.StrategyDelete),
			relation("Answered", "answers", "letters", "code", domain.StrategyNull),
		},
		Columns: []datamap.Column{
			column("tenant", datamap.TypeText), column("code", datamap.TypeText), column("sender", datamap.TypeBigInt),
			column("recipient", datamap.TypeBigInt), column("answers", datamap.TypeText),
		},
	}
	if !hasTwo {
		table.Relations = slices.Delete(table.Relations, 1, 2)
	}
	m := fixture.MustMap(t, datamap.Table{
		Name: "people", PrimaryKey: []string{"tenant", "number"}, SubjectKey: []string{"tenant", "number"},
		Columns: []datamap.Column{column("tenant", datamap.TypeText), column("number", datamap.TypeBigInt)},
	}, table)
	return m
}

func newLetters(t *testing.T, db *bun.DB, m datamap.DataMap) *application {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	execute(t, db, "DROP TABLE IF EXISTS letters", "DROP TABLE IF EXISTS people",
		"CREATE TABLE people (tenant text, number bigint, PRIMARY KEY (tenant, number))",
		"CREATE TABLE letters (tenant text, code text, sender bigint, recipient bigint, answers text,"+
			" PRIMARY KEY (tenant, code), FOREIGN KEY (tenant, sender) REFERENCES people (tenant, number),"+
			" FOREIGN KEY (tenant, recipient) REFERENCES people (tenant, number),"+
			" FOREIGN KEY (tenant, answers) REFERENCES letters (tenant, code))",
		"INSERT INTO people VALUES ('a', 1), ('a', 2), ('a', 3), ('b', 1), ('b', 2)",
		"INSERT INTO letters VALUES ('a', 'first', 1, 2, NULL)",
		"INSERT INTO letters VALUES ('a', 'answer', 2, 3, 'first')", // of other people
		"INSERT INTO letters VALUES ('a', 'back', 3, 1, 'first')",   // goes with the recipient
		"INSERT INTO letters VALUES ('a', 'later', 2, 3, 'answer')",
		"INSERT INTO letters VALUES ('a', 'lost', NULL, NULL, 'first')", // of no person
		"INSERT INTO letters VALUES ('a', 'own', 1, 1, 'back')",
		"INSERT INTO letters VALUES ('a', 'again', 1, 2, 'first')",
		"INSERT INTO letters VALUES ('b', 'first', 1, 2, NULL)",
		"INSERT INTO letters VALUES ('b', 'answer', 2, NULL, 'first')")
	store := storeOf(t, db, m, bunstore.Options{})
	plan := planOf(t, m)
	return &application{db, store, plan}
}

// lettersLeft returns the letters with the letters that they answer, in sorted order.
func (a *application) lettersLeft(t *testing.T) string {
	t.Helper()
	var rows []struct{ Tenant, Code, Answers string }
	must(t, a.db.NewRaw("SELECT tenant, code, coalesce(answers, '-') AS answers FROM letters").Scan(t.Context(), &rows))
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = fmt.Sprint(row.Tenant, " ", row.Code, " ", row.Answers)
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func TestReferencesToDeletedRowsOfTheSameTableAreCleared(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		for _, c := range []struct {
			hasTwo  bool
			cleared int64
			want    string
		}{
			{true, 5, "a answer -; a later answer; a lost -; b answer first; b first -"},
			{false, 4, "a answer -; a back -; a later answer; a lost -; b answer first; b first -"},
		} {
			a := newLetters(t, db, letters(t, c.hasTwo))
			rows := a.erase(t, "a", "1")
			if rows["anonymize letters"] != c.cleared {
				t.Errorf("%d references were cleared, want %d", rows["anonymize letters"], c.cleared)
			}
			if got := a.lettersLeft(t); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if left := a.leftOver(t, noon, "a", "1"); len(left) > 0 {
				t.Errorf("left over: %q", left)
			}
			if rows := a.erase(t, "a", "1"); rows["anonymize letters"] != 0 {
				t.Errorf("again: %v", rows)
			}
			if got := a.lettersLeft(t); got != c.want {
				t.Errorf("again: got  %s\nwant %s", got, c.want)
			}
		}
	})
}

// A transaction that adds an answer to a row of the subject waits for the erasure, although no other table refers to
// the row.
func TestRowsWhoseReferencesAreClearedAreLocked(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	a := newLetters(t, db, letters(t, false))
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(ctx, subjectID(t, "a", "1"), noon); err != nil {
			return err
		}
		const look = "SELECT 1 FROM letters WHERE tenant = 'a' AND code = ? FOR KEY SHARE NOWAIT"
		if _, err := db.ExecContext(t.Context(), look, "first"); err == nil {
			t.Error("the row of the subject is not locked")
		}
		if _, err := db.ExecContext(t.Context(), look, "answer"); err != nil {
			t.Errorf("the row of another person: %v", err)
		}
		return nil
	}))
}
