package bunstore_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// Patrons buy on bills, which are kept for ten years. An erasure overwrites their mail and the remarks on their bills.
// A sweep overwrites their phone number after a year.
type (
	patron struct {
		bun.BaseModel `bun:"table:patrons"`
		ID            int64     `bun:"id,pk" subject:"id"`
		Email         string    `bun:"email" pii:"contact,erasure:anonymize"`
		Phone         string    `bun:"phone" pii:"contact,erasure:retain,reason:x,retain:1y,since:seen"`
		Seen          time.Time `bun:"seen"`
	}
	purchase struct {
		bun.BaseModel `bun:"table:purchases"`
		ID            int64   `bun:"id,pk"`
		PatronID      *int64  `bun:"patron_id"`
		Patron        *patron `bun:"rel:belongs-to,join:patron_id=id"`
	}
	bill struct {
		bun.BaseModel `bun:"table:bills,alias:b"`
		ID            int64     `bun:"id,pk"`
		PurchaseID    *int64    `bun:"purchase_id"`
		Purchase      *purchase `bun:"rel:belongs-to,join:purchase_id=id"`
		Address       string    `bun:"address" pii:"financial,erasure:retain,reason:x,retain:10y,since:issued"`
		Contact       *string   `bun:"contact" pii:"contact,erasure:retain,reason:x"`
		Remark        string    `bun:"remark" pii:"communication,erasure:anonymize"`
		Issued        time.Time `bun:"issued"`
		Touched       int64     `bun:"touched"`
	}
)

const billTables = `
	CREATE TABLE patrons (id bigint PRIMARY KEY, email text, phone text, seen timestamp);
	CREATE TABLE purchases (id bigint PRIMARY KEY, patron_id bigint);
	CREATE TABLE bills (id bigint PRIMARY KEY, purchase_id bigint, address text, contact text, remark text,
		issued timestamp, touched bigint);
	INSERT INTO patrons VALUES (1, 'ann@example.org', '555', '2024-01-01 00:00:00'),
		(2, 'bob@example.org', '666', '2024-01-01 00:00:00');
	INSERT INTO purchases VALUES (10, 1), (11, 1), (20, 2);
	INSERT INTO bills VALUES (100, 10, '1 Main Street', 'ann@example.org', 'urgent', '2024-01-01 00:00:00', 0),
		(101, 11, '1 Main Street', NULL, NULL, '2024-01-01 00:00:00', 0),
		(200, 20, '2 Side Street', 'bob@example.org', 'late', '2024-01-01 00:00:00', 0)`

// triggerForm is code that runs when a row of patrons is updated, OLD and NEW.
type triggerForm struct {
	code    string
	refused string // a part of the message, or "" if the code changes nothing that is kept
	on      string // another table
}

const epoch = "'2024-01-01 00:00:00'"

var triggerForms = map[string]triggerForm{
	"a text is carried over":   {code: "UPDATE bills SET address = NEW.email WHERE id = 100;", refused: "bills.address"},
	"a value becomes NULL":     {code: "UPDATE bills SET address = NULL WHERE id = 101;", refused: "bills.address"},
	"NULL becomes a value":     {code: "UPDATE bills SET contact = 'x' WHERE id = 101;", refused: "bills.contact"},
	"the case changes":         {code: "UPDATE bills SET address = upper(address);", refused: "bills.address"},
	"the start of a duty":      {code: "UPDATE bills SET issued = '1999-01-01 00:00:00';", refused: "bills."},
	"a reference becomes NULL": {code: "UPDATE bills SET purchase_id = NULL WHERE id = 100;", refused: "bills.purchase"},
	"another owner":            {code: "UPDATE bills SET purchase_id = 20 WHERE id = 100;", refused: "bills.purchase"},
	"another owner above":      {code: "UPDATE purchases SET patron_id = 2 WHERE id = 10;", refused: "bills.purchase"},
	"no owner above":           {code: "UPDATE purchases SET patron_id = NULL;", refused: "bills.purchase"},
	"another row, the same key": {
		code:    "DELETE FROM bills WHERE id = 100; INSERT INTO bills VALUES (100, 10, '', NULL, NULL, " + epoch + ", 0);",
		refused: "bills.address",
	},
	"another key":           {code: "UPDATE bills SET id = 300 WHERE id = 100;", refused: "bills: the"},
	"another key and owner": {code: "UPDATE bills SET id = 9, purchase_id = 20 WHERE id = 100;", refused: "bills: the"},
	"a trigger of the row": {
		on: "bills", code: "UPDATE bills SET contact = 'x' WHERE id = OLD.id;", refused: "bills.contact",
	},
	"the person's own row": {
		code:    "UPDATE patrons SET seen = '1999-01-01 00:00:00' WHERE id = OLD.id AND seen > '2000-01-01';",
		refused: "patrons.seen",
	},
	"the row of another person":  {code: "UPDATE bills SET address = '' WHERE id = 200;"},
	"a column that nobody keeps": {code: "UPDATE bills SET touched = touched + 1, remark = remark;"},
	"the same row again": {code: "DELETE FROM bills WHERE id = 101;" +
		" INSERT INTO bills VALUES (101, 11, '1 Main Street', NULL, NULL, " + epoch + ", 0);"},
	"a further row": {code: "INSERT INTO bills SELECT 1000 + (SELECT count(*) FROM bills), 20, '', NULL, NULL, " +
		epoch + ", 0;"},
}

// create adds a trigger with the code. On PostgreSQL, the options are those of a trigger.
func (f triggerForm) create(t testing.TB, db *bun.DB, options ...string) {
	t.Helper()
	on, kind := "patrons", "TRIGGER"
	if f.on != "" {
		on = f.on
	}
	if db.Dialect().Name() == dialect.SQLite {
		execute(t, db, "CREATE TRIGGER form AFTER UPDATE ON "+on+" BEGIN "+f.code+" END")
		return
	}
	if len(options) > 0 {
		kind = "CONSTRAINT TRIGGER"
	}
	execute(t, db, "CREATE FUNCTION form() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+f.code+" RETURN NULL; END $$",
		"CREATE "+kind+" form AFTER UPDATE ON "+on+" "+strings.Join(options, " ")+
			" FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION form()")
}

func (f triggerForm) drop(t testing.TB, db *bun.DB) {
	t.Helper()
	if db.Dialect().Name() == dialect.SQLite {
		execute(t, db, "DROP TRIGGER form")
		return
	}
	execute(t, db, "DROP FUNCTION form CASCADE")
}

func newBills(t testing.TB, db *bun.DB) *application {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	execute(t, db, strings.Split(billTables, ";")...)
	return existingApplication(t, db, nil, (*patron)(nil), (*purchase)(nil), (*bill)(nil))
}

// eraseAt erases the person 1 at an instant before the end of all duties.
func (a *application) eraseAt(ctx context.Context, t testing.TB, sessions ports.SessionFactory) error {
	t.Helper()
	at := time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)
	return sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		id := subjectID(t, "1")
		if _, err := s.Subjects().Lock(ctx, id, at); err != nil {
			return err
		}
		_, err := s.Subjects().Apply(ctx, id, plan.LocalAt(a.plan, at))
		return err
	})
}

// wants checks that the operation was refused as the form says, and that the rows that are kept are as they were.
func (f triggerForm) wants(t testing.TB, db *bun.DB, operation string, err error) {
	t.Helper()
	switch {
	case f.refused == "" && err != nil:
		t.Errorf("%s: refused: %v", operation, err)
	case f.refused == "":
	case !errors.Is(err, domain.ErrConflict) || !strings.Contains(err.Error(), f.refused):
		t.Errorf("%s: got %v, want %q", operation, err, f.refused)
	}
	kept := 0
	must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM bills b JOIN purchases p ON p.id = b.purchase_id"+
		" WHERE b.address = '1 Main Street' AND p.patron_id = 1"+
		" AND (b.contact IS NULL OR b.contact LIKE 'ann@%')").Scan(&kept))
	if kept != 2 {
		t.Errorf("%s: %d of 2 bills are kept", operation, kept)
	}
}

// The operations follow each other: a rehearsal, an erasure in a transaction of the application that is rolled back, a
// correction, an erasure, and a sweep. The sweep overwrites the phone number only. It must compare what the whole plan
// keeps.
func TestAnOperationFailsIfTheDatabaseChangesWhatIsKept(t *testing.T) {
	t.Parallel()
	for name, form := range triggerForms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				a := newBills(t, db)
				form.create(t, db)
				form.wants(t, db, "a rehearsal", a.eraseAt(t.Context(), t, rehearsing{a.store}))
				undone := errors.New("undone")
				err := db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
					if form.on == "" {
						_, err := tx.ExecContext(ctx, "UPDATE bills SET address = address, touched = 7")
						must(t, err)
					}
					joined, err := a.store.Join(tx)
					must(t, err)
					return cmp.Or(a.eraseAt(ctx, t, joined), undone)
				})
				if errors.Is(err, undone) {
					err = nil
				}
				form.wants(t, db, "a joined transaction", err)
				if form.on == "" {
					form.wants(t, db, "a correction", a.correct(t, domain.RectificationStep{
						Table: "patrons", Values: []domain.ColumnValue{{Column: "email", Value: "anna@example.org"}},
					}))
				}
				form.wants(t, db, "an erasure", a.eraseAt(t.Context(), t, a.store))
				if form.on != "" || strings.Contains(form.refused, "patrons") {
					return
				}
				form.drop(t, db)
				must(t, a.eraseAt(t.Context(), t, a.store))
				form.create(t, db)
				_, err = a.sweep(t, "1", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
				form.wants(t, db, "a sweep", err)
				phone := ""
				must(t, db.QueryRowContext(t.Context(), "SELECT phone FROM patrons WHERE id = 1").Scan(&phone))
				if (phone == "555") != (form.refused != "") {
					t.Errorf("the phone number is %q", phone)
				}
			})
		})
	}
}

// rehearsing is a store whose sessions are rehearsals.
type rehearsing struct{ *bunstore.Store }

func (r rehearsing) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return r.Rehearse(ctx, fn)
}

func (a *application) correct(t testing.TB, step domain.RectificationStep) error {
	t.Helper()
	return a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		id := subjectID(t, "1")
		if _, err := s.Subjects().LockToRectify(ctx, id); err != nil {
			return err
		}
		return errOf(s.Subjects().Rectify(ctx, id, step))
	})
}

// A trigger may carry a correction on to a retained column of the same category, and derive a value in the same row.
// The retained columns that the correction names change.
func TestACorrectionMayReachWhatIsKept(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newBills(t, db)
		triggerForm{code: "UPDATE bills SET contact = upper(NEW.email) WHERE id = 100;"}.create(t, db)
		must(t, a.correct(t, domain.RectificationStep{
			Table: "patrons", Values: []domain.ColumnValue{{Column: "email", Value: "anna@example.org"}},
		}))
		must(t, a.correct(t, domain.RectificationStep{Table: "bills", Values: []domain.ColumnValue{
			{Column: "address", Value: "3 High Street"}, {Column: "contact", Value: "zoe"},
		}}))
	})
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newBills(t, db)
		derived := triggerForm{
			on: "bills", code: "UPDATE bills SET contact = 'at ' || NEW.address WHERE id = OLD.id AND address <> OLD.address;",
		}
		derived.create(t, db)
		must(t, a.correct(t, domain.RectificationStep{
			Table: "bills", Row: "100", Values: []domain.ColumnValue{{Column: "address", Value: "3 High Street"}},
		}))
	})
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newBills(t, db)
		besides := triggerForm{on: "bills", code: "UPDATE bills SET address = '' WHERE id = 101 AND OLD.id = 100;"}
		besides.create(t, db)
		err := a.correct(t, domain.RectificationStep{
			Table: "bills", Row: "100", Values: []domain.ColumnValue{{Column: "address", Value: "3 High Street"}},
		})
		if !errors.Is(err, domain.ErrConflict) {
			t.Errorf("a trigger has changed another row than the corrected one: %v", err)
		}
	})
}
