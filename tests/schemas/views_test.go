package schemas

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// These models map views instead of tables. Each view reads a table, and triggers of the view write to this table. The
// models must therefore trust the views.
type reader struct {
	bun.BaseModel `bun:"table:readers" subject:"trusted"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

type loan struct {
	bun.BaseModel `bun:"table:loans" subject:"trusted"`
	ID            string    `bun:"id,pk"`
	ReaderID      int64     `bun:"reader_id"`
	Reader        *reader   `bun:"rel:belongs-to,join:reader_id=id"`
	Book          string    `bun:"book" pii:"behavioral,erasure:anonymize"`
	Fee           string    `bun:"fee" pii:"financial,erasure:retain,reason:'§ 147 AO',retain:10y,since:lent_at"`
	LentAt        time.Time `bun:"lent_at"`
}

// damage maps a view whose rows refer to rows of the view "loans". Rows of "loans" refer to rows of the view "readers".
type damage struct {
	bun.BaseModel `bun:"table:damages" subject:"trusted,owned"`
	ID            int64  `bun:"id,pk"`
	LoanID        string `bun:"loan_id"`
	Loan          *loan  `bun:"rel:belongs-to,join:loan_id=id"`
	Body          string `bun:"body" pii:"communication"`
}

var viewed = []any{(*reader)(nil), (*loan)(nil), (*damage)(nil)}

// viewOf returns the statements for a table with rows, and for a view of this table. The view has triggers, so an
// update or a deletion in the view changes the table.
func viewOf(db *bun.DB, view, columns, rows string) []string {
	var names, set []string
	for column := range strings.SplitSeq(columns, ", ") {
		name, _, _ := strings.Cut(column, " ")
		names, set = append(names, name), append(set, name+" = NEW."+name)
	}
	table := "all_" + view
	statements := []string{
		"CREATE TABLE " + table + " (" + columns + ")",
		"INSERT INTO " + table + " VALUES " + rows,
		fmt.Sprintf("CREATE VIEW %s AS SELECT %s FROM %s", view, strings.Join(names, ", "), table),
	}
	update := fmt.Sprintf("UPDATE %s SET %s WHERE id = OLD.id;", table, strings.Join(set, ", "))
	remove := fmt.Sprintf("DELETE FROM %s WHERE id = OLD.id;", table)
	if !isPostgres(db) {
		return append(statements,
			fmt.Sprintf("CREATE TRIGGER %s_u INSTEAD OF UPDATE ON %s BEGIN %s END", view, view, update),
			fmt.Sprintf("CREATE TRIGGER %s_d INSTEAD OF DELETE ON %s BEGIN %s END", view, view, remove))
	}
	return append(statements,
		fmt.Sprintf("CREATE FUNCTION %s_t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+
			"IF TG_OP = 'UPDATE' THEN %s RETURN NEW; END IF; %s RETURN OLD; END $$", view, update, remove),
		fmt.Sprintf("CREATE TRIGGER %s_t INSTEAD OF UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s_t()",
			view, view, view))
}

func openViews(t *testing.T, db *bun.DB) *application {
	t.Helper()
	return open(t, db, app.Config{Models: viewed}, slices.Concat(
		viewOf(db, "readers", "id bigint PRIMARY KEY, email text", "(1, 'a@example.org'), (2, 'b@example.org')"),
		viewOf(db, "loans", "id text PRIMARY KEY, reader_id bigint, book text, fee text, lent_at timestamp",
			"('1', 1, 'Emma', '1 €', '2010-01-01 00:00:00'), ('2', 1, 'Ada', '2 €', '2190-01-01 00:00:00'),"+
				" ('3', 2, 'Eve', '3 €', '2010-01-01 00:00:00')"),
		viewOf(db, "damages", "id bigint PRIMARY KEY, loan_id text, body text",
			"(1, '1', 'torn'), (2, '2', 'wet'), (3, '3', 'ok')"),
	)...)
}

func TestViewsWithTriggersAreErasedThrough(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := openViews(t, db)
		result, err := a.erase(t.Context(), "1")
		if err != nil {
			t.Fatalf("%v (%v)", err, errors.Unwrap(err))
		}
		if result.Deleted["damages"] != 2 || result.Anonymized["loans"] != 2 || result.Anonymized["readers"] != 1 {
			t.Errorf("the result is %+v", result)
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM all_readers WHERE email = 'a@example.org'":                                   0,
			"SELECT count(*) FROM all_readers WHERE email = 'b@example.org'":                                   1,
			"SELECT count(*) FROM all_loans WHERE reader_id = 1 AND (book IN ('Emma', 'Ada') OR fee = '1 €')":  0,
			"SELECT count(*) FROM all_loans WHERE id = '2' AND fee = '2 €'":                                    1,
			"SELECT count(*) FROM all_loans WHERE id = '3' AND book = 'Eve' AND fee = '3 €' AND reader_id = 2": 1,
			"SELECT count(*) FROM all_damages":                                                                 1,
			"SELECT count(*) FROM all_damages WHERE id = 3 AND body = 'ok'":                                    1,
		} {
			if got := a.count(t, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
		if _, err := a.erase(t.Context(), "1"); err != nil { // an erasure may be repeated
			t.Errorf("again: %v", err)
		}
	})
}

func TestViewsWithTriggersAreCorrectedThrough(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := openViews(t, db)
		result, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "c@example.org"})
		if err != nil {
			t.Fatalf("%v: %v (%v)", result, err, errors.Unwrap(err))
		}
		if got := a.text(t, "SELECT email FROM all_readers WHERE id = 1"); got != "c@example.org" {
			t.Errorf("the row has %s", got)
		}
		if got := a.text(t, "SELECT email FROM all_readers WHERE id = 2"); got != "b@example.org" {
			t.Errorf("the other row has %s", got)
		}
	})
}
