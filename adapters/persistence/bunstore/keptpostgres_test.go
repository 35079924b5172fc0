package bunstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// PostgreSQL has further forms of code, some of which run late.
func TestAllFormsOfCodeThatChangeWhatIsKeptAreFound(t *testing.T) {
	t.Parallel()
	sync := triggerForms["a text is carried over"]
	for name, create := range map[string]func(t *testing.T, db *bun.DB){
		"a deferred trigger": func(t *testing.T, db *bun.DB) { sync.create(t, db, "DEFERRABLE INITIALLY DEFERRED") },
		"a late trigger":     func(t *testing.T, db *bun.DB) { sync.create(t, db, "DEFERRABLE INITIALLY IMMEDIATE") },
		"a rule": func(t *testing.T, db *bun.DB) {
			execute(t, db, "CREATE RULE form AS ON UPDATE TO patrons DO ALSO"+
				" UPDATE bills SET address = NEW.email WHERE id = 100")
		},
		"a trigger before the row": func(t *testing.T, db *bun.DB) {
			execute(t, db, "CREATE FUNCTION form() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"+
				" NEW.address = ''; RETURN NEW; END $$",
				"CREATE TRIGGER form BEFORE UPDATE ON bills FOR EACH ROW EXECUTE FUNCTION form()")
		},
		"a generated column": func(t *testing.T, db *bun.DB) {
			execute(t, db, "ALTER TABLE bills DROP COLUMN contact",
				"ALTER TABLE bills ADD COLUMN contact text GENERATED ALWAYS AS (lower(remark)) STORED")
		},
		"a trigger on partitions": func(t *testing.T, db *bun.DB) {
			execute(t, db, "ALTER TABLE bills RENAME TO a_part", "CREATE TABLE bills (LIKE a_part) PARTITION BY RANGE (id)",
				"ALTER TABLE bills ATTACH PARTITION a_part DEFAULT")
			sync.create(t, db)
		},
		"a view": func(t *testing.T, db *bun.DB) {
			execute(t, db, "ALTER TABLE bills RENAME TO all_bills", "CREATE VIEW bills AS SELECT * FROM all_bills")
			sync.create(t, db)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := databases.PostgreSQL(t)
			a := newBills(t, db)
			create(t, db)
			err := a.eraseAt(t.Context(), t, a.store)
			if !errors.Is(err, domain.ErrConflict) || !strings.Contains(err.Error(), ": a trigger, a rule or") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// hookThatChanges is a query hook that runs a function before the first statement with a text.
type hookThatChanges struct {
	at     string
	change func()
}

func (h *hookThatChanges) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if change := h.change; change != nil && strings.HasPrefix(event.Query, h.at) {
		h.change = nil
		change()
	}
	return ctx
}

func (h *hookThatChanges) AfterQuery(context.Context, *bun.QueryEvent) {}

// Another transaction commits a change, a deletion or a handover of rows that are kept while an erasure runs. This is
// no reason for the erasure to fail. A row that the erasure itself writes waits for the end of the erasure.
func TestWhatOthersCommitDuringAnErasureIsNoFault(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"a value":     "UPDATE bills SET address = 'moved' WHERE id = 101",
		"a reference": "UPDATE bills SET purchase_id = 20 WHERE id = 101",
		"a row":       "DELETE FROM bills WHERE id = 101", "a key": "UPDATE bills SET id = 300 WHERE id = 101",
		"the duty": "UPDATE bills SET issued = '1999-01-01' WHERE id = 101",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := databases.PostgreSQL(t)
			hook := &hookThatChanges{at: "UPDATE \"patrons\""}
			newBills(t, db)
			execute(t, db, "ALTER TABLE bills DROP COLUMN remark", "ALTER TABLE bills ADD COLUMN remark text")
			execute(t, db, "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
				"CREATE TRIGGER nothing AFTER UPDATE ON patrons FOR EACH ROW EXECUTE FUNCTION nothing()")
			a := existingApplication(t, databases.WithHook(db, hook), nil, (*patron)(nil), (*purchase)(nil), (*keptBill)(nil))
			hook.change = func() {
				_, err := db.ExecContext(context.Background(), statement)
				must(t, err)
			}
			if err := a.eraseAt(t.Context(), t, a.store); err != nil || hook.change != nil {
				t.Errorf("the erasure has failed: %v", err)
			}
		})
	}
}

// keptBill is a bill in which an erasure overwrites nothing.
type keptBill struct {
	bun.BaseModel `bun:"table:bills,alias:b"`
	ID            int64     `bun:"id,pk"`
	PurchaseID    *int64    `bun:"purchase_id"`
	Purchase      *purchase `bun:"rel:belongs-to,join:purchase_id=id"`
	Address       string    `bun:"address" pii:"financial,erasure:retain,reason:x,retain:10y,since:issued"`
	Contact       *string   `bun:"contact" pii:"contact,erasure:retain,reason:x"`
	Issued        time.Time `bun:"issued"`
}

// The application has written the kept row in the same transaction before the erasure.
func TestWhatTheApplicationHasWrittenItselfIsNoFault(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newBills(t, db)
		triggerForms["a column that nobody keeps"].create(t, db)
		must(t, db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
			for _, text := range []string{
				"UPDATE bills SET address = 'new' WHERE id = 100", "DELETE FROM bills WHERE id = 101",
				"INSERT INTO bills VALUES (102, 11, 'third', NULL, NULL, '2024-01-01 00:00:00', 0)",
			} {
				_, err := tx.ExecContext(ctx, text)
				must(t, err)
			}
			joined, err := a.store.Join(tx)
			must(t, err)
			return a.eraseAt(ctx, t, joined)
		}))
	})
}

// Rows that an erasure overwrites because their duty is over are not kept.
func TestWhatThePlanOverwritesIsNotKept(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newBills(t, db)
		triggerForms["a column that nobody keeps"].create(t, db)
		execute(t, db, "UPDATE bills SET issued = '2001-01-01 00:00:00' WHERE id = 101")
		must(t, a.eraseAt(t.Context(), t, a.store))
		var due, kept string
		must(t, db.QueryRowContext(t.Context(), "SELECT address FROM bills WHERE id = 101").Scan(&due))
		must(t, db.QueryRowContext(t.Context(), "SELECT address FROM bills WHERE id = 100").Scan(&kept))
		if due == "1 Main Street" || kept != "1 Main Street" {
			t.Errorf("due: %q, kept: %q", due, kept)
		}
		_, err := a.sweep(t, "1", time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC))
		must(t, err)
	})
}
