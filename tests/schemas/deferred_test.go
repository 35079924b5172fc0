package schemas

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// deferred returns the statements that create a constraint trigger of PostgreSQL. PostgreSQL runs this trigger at the
// commit.
func deferred(name, event, table, body string) []string {
	return []string{
		"CREATE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body + " RETURN NULL; END $$",
		"CREATE CONSTRAINT TRIGGER " + name + " AFTER " + event + " ON " + table +
			" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION " + name + "()",
	}
}

var plainClients = slices.Concat(clientTables("clients"), letterTables())

// joined calls fn in a session of habeas that joins a transaction of the application. The transaction also executes the
// statements before and after the session. joined commits the transaction and returns the error of the session.
func (a *application) joined(
	t testing.TB, fn func(context.Context, ports.Session, domain.Subject) error, before, after []string,
) error {
	t.Helper()
	tx, err := a.db.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	execute(t, tx, before...)
	joined, err := a.Join(tx)
	must(t, err)
	subject := fixture.MustSubject(t, "1")
	failure := joined.Do(t.Context(), func(ctx context.Context, s ports.Session) error { return fn(ctx, s, subject) })
	execute(t, tx, after...)
	must(t, tx.Commit())
	return failure
}

func (a *application) erasing(ctx context.Context, s ports.Session, subject domain.Subject) error {
	_, err := a.Stack().Eraser.Erase(ctx, s, subject)
	return err
}

func (a *application) rectifying(ctx context.Context, s ports.Session, subject domain.Subject) error {
	_, err := a.Stack().Rectifier.RectifySubject(ctx, s, subject, corrected, rectification.AllColumns())
	return err
}

var corrected = domain.Corrections{domain.CategoryContact: "new@example.org"}

// A deferred trigger (it runs at the commit) restores an erased or corrected value. A session in a transaction of the
// application ends before this commit. The session must therefore run the trigger itself, and must fail because of the
// restored value.
func TestADeferredTriggerIsFiredBeforeTheSessionSucceeds(t *testing.T) {
	t.Parallel()
	const restore = "IF OLD.email LIKE 'a@%' THEN UPDATE clients SET email = OLD.email WHERE id = OLD.id; END IF;"
	for name, triggers := range map[string][]string{
		"a value": deferred("guard", "UPDATE", "clients", restore),
		"a value of a trigger that the transaction deferred": {
			"CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + restore + " RETURN NULL; END $$",
			"CREATE CONSTRAINT TRIGGER guard AFTER UPDATE ON clients DEFERRABLE INITIALLY IMMEDIATE" +
				" FOR EACH ROW EXECUTE FUNCTION guard()",
		},
		"a value of a trigger with a strange name": append(deferred("guard", "UPDATE", "clients", restore),
			`ALTER TRIGGER guard ON clients RENAME TO "Gu""ard ?"`),
		"a trigger in another schema": append(append([]string{"CREATE SCHEMA another"}, plainTo("another.clients")...),
			deferred("guard", "UPDATE", "clients", restore)...),
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, onPostgres(t), app.Config{Models: clients}, slices.Concat(plainClients, triggers)...)
			for what, fn := range map[string]func(context.Context, ports.Session, domain.Subject) error{
				"erase": a.erasing, "rectify": a.rectifying,
			} {
				err := a.joined(t, fn, []string{"SET CONSTRAINTS ALL DEFERRED"}, nil)
				if !errors.Is(err, domain.ErrLeftOver) {
					t.Errorf("%s: got %v", what, err)
				}
				if got := a.text(t, "SELECT email FROM clients WHERE id = 1"); got != "a@example.org" {
					t.Errorf("%s: the address is %s", what, got)
				}
			}
			_, err := a.erase(t.Context(), "1")
			if !errors.Is(err, domain.ErrLeftOver) {
				t.Errorf("erase alone: got %v", err)
			}
			_, err = a.rectify(t.Context(), "1", corrected)
			if !errors.Is(err, domain.ErrLeftOver) {
				t.Errorf("rectify alone: got %v", err)
			}
		})
	}
}

// plainTo returns the statements that create a table without triggers, and a function another.guard. A session must not
// confuse this function with the trigger guard of the table "clients".
func plainTo(table string) []string {
	return []string{
		"CREATE TABLE " + table + " (id bigint PRIMARY KEY, email text)",
		"CREATE FUNCTION another.guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'never fired'; END $$",
	}
}

// A deferred trigger (it runs at the commit) adds a row for each deleted row. There are two cases:
//
//   - If the trigger adds rows only once, the erasure also deletes these rows.
//   - If the trigger adds a row after each deletion, the erasure fails.
func TestRowsThatADeferredTriggerAddsAreErased(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]struct {
		when string
		want error
	}{
		"once":     {"WHEN (OLD.id < 100)", nil},
		"for ever": {"", domain.ErrLeftOver},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, onPostgres(t), app.Config{Models: clients}, slices.Concat(plainClients, []string{
				"CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO letters VALUES" +
					" (OLD.id + 100, OLD.client_id, OLD.body); RETURN NULL; END $$",
				"CREATE CONSTRAINT TRIGGER guard AFTER DELETE ON letters DEFERRABLE INITIALLY DEFERRED" +
					" FOR EACH ROW " + back.when + " EXECUTE FUNCTION guard()",
			})...)
			for what, err := range map[string]error{
				"joined": a.joined(t, a.erasing, nil, nil),
				"alone":  second(a.erase(t.Context(), "1")),
			} {
				if !errors.Is(err, back.want) {
					t.Errorf("%s: got %v (%v)", what, err, errors.Unwrap(err))
				}
			}
			if n := a.count(t, "SELECT count(*) FROM letters WHERE client_id = 1"); (n == 0) != (back.want == nil) {
				t.Errorf("%d letters are left", n)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// A transaction of the application inserts a row and then starts a session of habeas. The deferred trigger of this
// insert restores an email address. The session runs this trigger before the erasure, so the erasure succeeds.
func TestDeferredTriggersOfEarlierWritesAreFired(t *testing.T) {
	t.Parallel()
	a := open(t, onPostgres(t), app.Config{Models: clients}, slices.Concat(plainClients,
		deferred("guard", "INSERT", "letters", "UPDATE clients SET email = 'a@example.org' WHERE id = NEW.client_id;"))...)
	must(t, a.joined(t, a.erasing, []string{"INSERT INTO letters VALUES (3, 1, 'dear')"}, nil))
	if got := a.text(t, "SELECT email FROM clients WHERE id = 1"); !strings.HasPrefix(got, "anon-") {
		t.Errorf("the address is %s", got)
	}
}

// A transaction of the application inserts a row into a table that is not in the data map. The deferred trigger of this
// insert writes an old address into a table of the data map, directly or through another function. The session runs the
// trigger before it verifies the erasure, even if no table of the data map has a trigger. After the session, the
// trigger is deferred again.
func TestDeferredTriggersOfOtherTablesAreFired(t *testing.T) {
	t.Parallel()
	const restore = "UPDATE clients SET email = 'a@example.org' WHERE id = 1;"
	for name, statements := range map[string][]string{
		"directly": deferred("guard", "INSERT", "bookings", restore),
		"through a function": append([]string{
			"CREATE FUNCTION restore() RETURNS void LANGUAGE plpgsql AS $$ BEGIN " + restore + " END $$",
		}, deferred("guard", "INSERT", "bookings", "PERFORM restore();")...),
		"dynamically": deferred("guard", "INSERT", "bookings", "EXECUTE 'UP' || '"+
			strings.ReplaceAll(restore[2:], "'", "''")+"';"),
		"through another table": append(deferred("guard", "INSERT", "bookings", "INSERT INTO notes VALUES (1);"),
			"CREATE TABLE notes (id int)",
			"CREATE FUNCTION second() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+restore+" RETURN NULL; END $$",
			"CREATE TRIGGER second AFTER INSERT ON notes FOR EACH ROW EXECUTE FUNCTION second()"),
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, onPostgres(t), app.Config{Models: clients}, slices.Concat(plainClients,
				[]string{"CREATE TABLE bookings (amount int)"}, statements)...)
			must(t, a.joined(t, a.rectifying, []string{"INSERT INTO bookings VALUES (1)"}, nil))
			if got := a.text(t, "SELECT email FROM clients WHERE id = 1"); got != "new@example.org" {
				t.Errorf("the corrected address is %s", got)
			}
			must(t, a.joined(t, a.erasing, []string{"INSERT INTO bookings VALUES (1)"}, nil))
			if got := a.text(t, "SELECT email FROM clients WHERE id = 1"); !strings.HasPrefix(got, "anon-") {
				t.Errorf("the erased address is %s", got)
			}
			must(t, a.joined(t, a.erasing, nil, []string{
				"INSERT INTO bookings VALUES (1)", "UPDATE clients SET email = 'x' WHERE id = 1",
			}))
			if got := a.text(t, "SELECT email FROM clients WHERE id = 1"); got != "a@example.org" {
				t.Errorf("a later trigger has fired before the commit: the address is %s", got)
			}
		})
	}
}

// After a session in a transaction of the application, the constraints of the application must still be deferred until
// the commit, because the application may write more rows. The same applies to its deferred triggers.
func TestAJoinedSessionLeavesConstraintsDeferred(t *testing.T) {
	t.Parallel()
	a := open(t, onPostgres(t), app.Config{Models: clients}, slices.Concat(plainClients, []string{
		"CREATE TABLE branches (id bigint PRIMARY KEY)",
		"ALTER TABLE clients ADD COLUMN branch bigint REFERENCES branches DEFERRABLE INITIALLY DEFERRED",
		"CREATE TABLE bookings (amount int)",
	}, deferred("balanced", "INSERT", "bookings",
		"IF (SELECT sum(amount) FROM bookings) <> 0 THEN RAISE 'not balanced'; END IF;"),
		deferred("complete", "INSERT OR UPDATE", "clients",
			"IF NOT EXISTS (SELECT 1 FROM letters WHERE client_id = NEW.id OR NEW.id = 1) THEN RAISE 'not complete';"+
				" END IF;"))...)
	for _, fn := range []func(context.Context, ports.Session, domain.Subject) error{a.rectifying, a.erasing} {
		err := a.joined(t, fn, []string{"UPDATE clients SET branch = 7 WHERE id = 1", "INSERT INTO bookings VALUES (5)"},
			[]string{
				"DELETE FROM letters WHERE id = 9", "DELETE FROM clients WHERE id = 9",
				"INSERT INTO clients VALUES (9, 'c@example.org')", "INSERT INTO letters VALUES (9, 9, 'dear')",
				"INSERT INTO branches VALUES (7) ON CONFLICT DO NOTHING", "INSERT INTO bookings VALUES (-5)",
				"DELETE FROM letters WHERE id = 9", "INSERT INTO letters VALUES (9, 9, 'dear') ON CONFLICT DO NOTHING",
			})
		if err != nil {
			t.Errorf("got %v (%v)", err, errors.Unwrap(err))
		}
	}
}

// If a deferred trigger raises an error, the erasure fails with domain.ErrConflict and changes no row. The application
// can continue its transaction.
func TestADeferredTriggerThatRefusesFailsTheWholeErasure(t *testing.T) {
	t.Parallel()
	a := open(t, onPostgres(t), app.Config{Models: clients}, slices.Concat(plainClients,
		deferred("guard", "DELETE", "letters", "RAISE 'a@example.org must stay';"))...)
	for what, err := range map[string]error{
		"joined": a.joined(t, a.erasing, nil, []string{"UPDATE letters SET body = 'x' WHERE id = 2"}),
		"alone":  second(a.erase(t.Context(), "1")),
	} {
		if !errors.Is(err, domain.ErrConflict) || strings.Contains(err.Error(), "example.org") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if n := a.count(t, "SELECT count(*) FROM clients JOIN letters ON client_id = clients.id"+
		" WHERE email = 'a@example.org'"); n != 1 {
		t.Error("a part of the erasure is there")
	}
	if n := len(a.failed(t, "1")); n != 2 { // one by each session
		t.Errorf("%d failures are on the trail", n)
	}
}

// The statement SET CONSTRAINTS runs a deferred trigger early. It also affects every other constraint and trigger with
// the same name. If such a constraint or trigger exists, a session in a transaction of the application is refused. A
// session in a transaction of its own is not refused.
func TestADeferredTriggerWithAnAmbiguousNameIsRefused(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"a foreign key": "ALTER TABLE letters ADD CONSTRAINT guard FOREIGN KEY (client_id) REFERENCES clients",
		"a deferred one": "ALTER TABLE letters ADD CONSTRAINT guard FOREIGN KEY (client_id) REFERENCES clients" +
			" DEFERRABLE INITIALLY DEFERRED",
		"another trigger": "CREATE CONSTRAINT TRIGGER guard AFTER UPDATE ON letters DEFERRABLE INITIALLY IMMEDIATE" +
			" FOR EACH ROW EXECUTE FUNCTION guard()",
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, onPostgres(t), app.Config{Models: clients}, slices.Concat(plainClients,
				deferred("guard", "UPDATE", "clients", ""), []string{statement})...)
			for what, fn := range map[string]func(context.Context, ports.Session, domain.Subject) error{
				"erase": a.erasing, "rectify": a.rectifying,
			} {
				err := a.joined(t, fn, nil, nil)
				if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), "clients") ||
					!strings.Contains(err.Error(), "guard") {
					t.Errorf("%s: got %v", what, err)
				}
			}
			_, err := a.erase(t.Context(), "1")
			must(t, err)
		})
	}
}
