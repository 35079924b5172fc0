package bunstore_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// parcel has a column whose surrogate (the value that an erasure writes) violates a constraint in some of the tests.
type parcel struct {
	bun.BaseModel `bun:"table:parcels"`
	ID            int64   `bun:"id,pk"`
	OwnerID       int64   `bun:"owner_id"`
	Owner         *person `bun:"rel:belongs-to,join:owner_id=id"`
	Kept          string  `bun:"kept"`
	Label         string  `bun:"label" pii:"contact,surrogate:secret-value"`
}

func TestAConstraintIsNamedWithItsTable(t *testing.T) {
	t.Parallel()
	for constraint, parts := range map[string][]string{
		"CREATE UNIQUE INDEX one_label ON parcels (kept, label)": {"parcels", "one_label|kept, label"},
	} {
		databases.Each(t, func(t *testing.T, db *bun.DB) {
			a := newApplication(t, db, nil, (*person)(nil), (*parcel)(nil))
			execute(t, db, constraint)
			a.insert(t, &person{ID: 1}, &parcel{ID: 1, OwnerID: 1, Kept: "x", Label: "a"},
				&parcel{ID: 2, OwnerID: 1, Kept: "x", Label: "b"})
			err := a.apply(t, "1")
			if !errors.Is(err, domain.ErrConflict) {
				t.Errorf("got %v", err)
			}
			wantSilence(t, err, "secret-value", "UPDATE", "duplicate", "UNIQUE")
			wantNames(t, err, parts...)
		})
	}
}

func TestACheckIsNamedWithItsTable(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	a := newApplication(t, db, nil, (*person)(nil), (*parcel)(nil))
	execute(t, db, "ALTER TABLE parcels ADD CONSTRAINT short_label CHECK (length(label) < 5)")
	a.insert(t, &person{ID: 1}, &parcel{ID: 1, OwnerID: 1, Label: "a"})
	err := a.apply(t, "1")
	if !errors.Is(err, domain.ErrConflict) {
		t.Errorf("got %v", err)
	}
	wantSilence(t, err, "secret-value", "UPDATE", "length")
	wantNames(t, err, "table parcels", "constraint short_label")
}

// A trigger can raise an error whose message has a personal value at the place of a name. The text of the store's error
// must not contain this value.
func TestTheMessageOfATriggerIsNotReportedAsNames(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	a := newApplication(t, db, nil, (*person)(nil), (*parcel)(nil))
	execute(t, db, "CREATE TRIGGER refuse BEFORE UPDATE ON parcels"+
		" BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: parcels.zoe@example'); END")
	a.insert(t, &person{ID: 1}, &parcel{ID: 1, OwnerID: 1, Label: "a"})
	wantSilence(t, a.apply(t, "1"), "zoe", "UNIQUE")
}

// The text of the store's error must not contain personal values from a database function of the application. Such a
// function may put a personal value into a field of its error that normally holds a name. It may also run a statement
// with a personal value in place of a name, so that the message of the error contains the value.
func TestTheValuesOfAFunctionAreNotReportedAsNames(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	a := newApplication(t, db, nil, (*person)(nil), (*parcel)(nil))
	a.insert(t, &person{ID: 1}, &parcel{ID: 1, OwnerID: 1, Label: "zoe@example.org"})
	guard := func(body string) string {
		return "CREATE OR REPLACE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body +
			"; RETURN NEW; END $$"
	}
	execute(t, db, "CREATE TABLE refusing (label text UNIQUE CHECK (length(label) < 20))", guard("NULL"),
		"CREATE TRIGGER guard BEFORE UPDATE ON parcels FOR EACH ROW EXECUTE FUNCTION guard()")
	for name, body := range map[string]string{
		"names": "RAISE EXCEPTION '%', OLD.label USING ERRCODE = '23505', TABLE = OLD.label, COLUMN = OLD.label," +
			" CONSTRAINT = OLD.label, DETAIL = OLD.label, HINT = OLD.label",
		"names without a constraint": "RAISE EXCEPTION '%', OLD.label USING TABLE = OLD.label, COLUMN = OLD.label",
		"a table that is missing":    "EXECUTE format('SELECT 1 FROM %I', OLD.label)",
		"a column that is missing":   "EXECUTE format('SELECT %I FROM parcels', OLD.label)",
		"a table that it says is missing": `RAISE EXCEPTION 'relation "%" does not exist', OLD.label` +
			" USING ERRCODE = 'undefined_table'",
		"a privilege that it says is missing": `RAISE EXCEPTION 'permission denied for table "%"', OLD.label` +
			" USING ERRCODE = 'insufficient_privilege'",
		"a value of another type": "PERFORM OLD.label::uuid",
		"a row that is refused":   "INSERT INTO refusing VALUES (OLD.label), (OLD.label)",
		"a value that is refused": "INSERT INTO refusing VALUES (OLD.label || OLD.label)",
	} {
		execute(t, db, guard(body))
		err := a.apply(t, "1")
		var raised *pgconn.PgError
		if !errors.As(err, &raised) || !strings.Contains(raised.Message+raised.Detail, "zoe@example.org") {
			t.Errorf("%s: the driver's error is %v: the test proves nothing", name, raised)
		}
		wantSilence(t, err, "zoe", "example", "secret-value")
	}
}

func TestAConnectionThatIsRefusedSaysWhy(t *testing.T) {
	t.Parallel()
	database := postgres.NewDatabase(t)
	parsed, err := url.Parse(database)
	must(t, err)
	elsewhere := *parsed
	elsewhere.Path = "/no_such_database"
	for address, want := range map[string]string{
		elsewhere.String(): "the database does not exist (SQLSTATE 3D000)",
		"postgres://app:secret@" + silentPort(t, nil) + "/app?sslmode=disable": "connection refused",
		"postgres://app:secret@host.invalid/app?sslmode=disable":               "host",
	} {
		err := bunstore.Migrate(t.Context(), openDB(t, "pgx", address), bunstore.Options{})
		wantUnavailable(t, want, err)
		wantNames(t, err, want)
		wantSilence(t, err, "secret", "app", "no_such_database", "127.0.0.1", "host.invalid")
	}
}

func wantNames(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		one, other, _ := strings.Cut(part, "|")
		if err == nil || !strings.Contains(err.Error(), one) && (other == "" || !strings.Contains(err.Error(), other)) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
