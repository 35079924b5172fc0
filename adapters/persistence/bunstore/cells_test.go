package bunstore_test

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// Worded is a model with a column for each way to choose the surrogate (the value that an erasure writes).
type Worded struct {
	bun.BaseModel `bun:"table:worded"`
	ID            int64   `bun:"id,pk"`
	OwnerID       int64   `bun:"owner_id"`
	Owner         *person `bun:"rel:belongs-to,join:owner_id=id"`
	Kept          string  `bun:"kept"`
	Phone         *string `bun:"phone,unique" pii:"contact,erasure:null"`
	Motto         string  `bun:"motto" pii:"identity,surrogate:''"`
	Login         string  `bun:"login,type:varchar(40),unique" pii:"contact,surrogate:'{}@erased.invalid'"`
	Hash          string  `bun:"password_hash" pii:"technical,export:no"`
}

const createWorded = `CREATE TABLE worded (id bigint PRIMARY KEY, owner_id bigint NOT NULL REFERENCES people (id),
	kept text NOT NULL, phone text UNIQUE, motto text NOT NULL,
	login varchar(40) NOT NULL UNIQUE CHECK (login LIKE '%_@_%'), password_hash text NOT NULL)`

// newWorded returns an application with n rows of subject 1 and one row of subject 2.
func newWorded(t testing.TB, db *bun.DB, create string, n int64) *application {
	t.Helper()
	newApplication(t, db, nil, (*person)(nil))
	execute(t, db, create)
	a := existingApplication(t, db, nil, (*person)(nil), (*Worded)(nil))
	a.insert(t, &person{ID: 1}, &person{ID: 2})
	for id := range n + 1 {
		owner := int64(1)
		if id == n {
			owner = 2
		}
		digits := strconv.FormatInt(100_000+id, 10)
		a.insert(t, &Worded{
			ID: id, OwnerID: owner, Kept: "kept", Phone: pointer("+49 " + digits), Motto: "carpe " + digits,
			Login: digits + "@example.org", Hash: "hash of " + digits,
		})
	}
	return a
}

var filledLogin = regexp.MustCompile(`^[0-9a-f]{25}@erased\.invalid$`)

// expectWorded fails the test unless all rows of subject 1 hold the values that an erasure writes, and the export does
// not contain "password_hash".
func (a *application) expectWorded(t testing.TB) {
	t.Helper()
	var rows []Worded
	must(t, a.db.NewSelect().Model(&rows).Where("owner_id = 1").Scan(t.Context()))
	for _, row := range rows {
		if row.Kept != "kept" || row.Phone != nil || row.Motto != "" || !filledLogin.MatchString(row.Login) ||
			!strings.HasPrefix(row.Hash, "anon-") {
			t.Errorf("got %+v", row)
		}
	}
	for _, record := range a.export(t, "1") {
		if record.Field == "password_hash" {
			t.Error("the hash is exported")
		}
	}
}

func TestDeclaredSurrogatesSatisfyUniqueAndCheckConstraints(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newWorded(t, db, createWorded, 30)
		for range 2 {
			wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize worded": 30})
			a.expectWorded(t)
		}
		var other Worded
		must(t, db.NewSelect().Model(&other).Where("owner_id = 2").Scan(t.Context()))
		if other.Phone == nil || other.Motto == "" || !strings.HasSuffix(other.Login, "@example.org") {
			t.Errorf("the row of another subject is %+v", other)
		}
	})
}

func TestDeclaredSurrogatesAreWrittenDespiteTriggers(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newWorded(t, db, strings.Replace(createWorded, " CHECK (login LIKE '%_@_%')", "", 1), 3)
		// The verification must not report this login as an old value. The surrogate ends with the same text.
		execute(t, db, "UPDATE worded SET login = 'erased.invalid' WHERE id = 0")
		execute(t, db, onUpdate(db, "UPDATE people SET id = id WHERE id = 1")...)
		for range 2 {
			wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize worded": 3})
			a.expectWorded(t)
		}
	})
}

func TestANullThatATriggerOverwritesIsFound(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newWorded(t, db, createWorded, 3)
		execute(t, db, onUpdate(db, "UPDATE worded SET phone = '+49 100000' WHERE id = 0 AND phone IS NULL")...)
		if err := a.tryErase(t, "1"); !errors.Is(err, domain.ErrLeftOver) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAColumnThatIsNotNullInTheDatabaseIsRefusedByName(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		create := strings.Replace(createWorded, "phone text UNIQUE", "phone text UNIQUE NOT NULL", 1)
		a := newWorded(t, db, create, 1)
		expectRefusedNull(t, a)
	})
}

// The application adds a NOT NULL constraint to a column while the store is running. An erasure that would set the
// column to NULL must fail, and the error must name the column.
func TestAColumnThatBecomesNotNullIsRefusedByName(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newWorded(t, db, createWorded, 1)
		a.export(t, "1")
		must(t, a.tryErase(t, "2"))
		if db.Dialect().Name() == dialect.PG {
			execute(t, db, "DELETE FROM worded WHERE phone IS NULL", "ALTER TABLE worded ALTER phone SET NOT NULL")
		} else {
			execute(t, db, "DROP TABLE worded",
				strings.Replace(createWorded, "phone text UNIQUE", "phone text UNIQUE NOT NULL", 1))
		}
		expectRefusedNull(t, a)
	})
}

func expectRefusedNull(t testing.TB, a *application) {
	t.Helper()
	err := a.tryErase(t, "1")
	if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), "worded.phone: is to be set to NULL") {
		t.Errorf("got %v", err)
	}
	var left []Worded
	must(t, a.db.NewSelect().Model(&left).Where("owner_id = 1").Scan(t.Context()))
	for _, row := range left {
		if row.Phone == nil || row.Motto == "" {
			t.Errorf("a row was changed: %+v", row)
		}
	}
}

// tryErase runs the steps of the erasure plan in the database and returns the error.
func (a *application) tryErase(t testing.TB, id ...string) error {
	t.Helper()
	return a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(ctx, subjectID(t, id...), time.Now()); err != nil {
			return err
		}
		_, err := s.Subjects().Apply(ctx, subjectID(t, id...), a.plan.Local())
		return err
	})
}

// onUpdate returns the statements that create a trigger on the table "worded". After each update of a row, the trigger
// runs the SQL statement.
func onUpdate(db *bun.DB, statement string) []string {
	if db.Dialect().Name() != dialect.PG {
		return []string{"CREATE TRIGGER meddles AFTER UPDATE ON worded BEGIN " + statement + "; END"}
	}
	return []string{
		"CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + statement + "; RETURN NULL; END $$",
		"CREATE TRIGGER meddles AFTER UPDATE ON worded FOR EACH ROW EXECUTE FUNCTION meddle()",
	}
}
