package bunstore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

type client struct {
	bun.BaseModel `bun:"table:clients"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

type residence struct {
	bun.BaseModel `bun:"table:residences"`
	ID            int64   `bun:"id,pk"`
	ClientID      int64   `bun:"client_id"`
	Client        *client `bun:"rel:belongs-to,join:client_id=id"`
	Street        string  `bun:"street" pii:"contact,erasure:anonymize"`
}

type residenceHistory struct {
	bun.BaseModel `bun:"table:residences_history" subject:"owned"`
	ID            int64   `bun:"id,pk"`
	ClientID      int64   `bun:"client_id"`
	Client        *client `bun:"rel:belongs-to,join:client_id=id"`
	Street        string  `bun:"street" pii:"contact"`
}

// A trigger of one table copies values into another table, whose erasure step comes later. The erasure must also delete
// the copies. In a single statement for all steps, the later step would not see the copies.
func TestRowsThatATriggerAddsAreErasedToo(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		execute(t, db, "CREATE TABLE clients (id bigint PRIMARY KEY, email text)",
			"CREATE TABLE residences (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, street text)")
		if db.Dialect().Name() == dialect.PG {
			execute(t, db,
				"CREATE TABLE residences_history (id bigserial PRIMARY KEY, client_id bigint REFERENCES clients, street text)",
				"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO residences_history"+
					" (client_id, street) VALUES (OLD.client_id, OLD.street); RETURN NULL; END $$",
				"CREATE TRIGGER keep AFTER UPDATE OR DELETE ON residences FOR EACH ROW EXECUTE FUNCTION keep()")
		} else {
			execute(t, db,
				"CREATE TABLE residences_history (id integer PRIMARY KEY, client_id bigint REFERENCES clients, street text)",
				"CREATE TRIGGER keep AFTER UPDATE ON residences BEGIN INSERT INTO residences_history"+
					" (client_id, street) VALUES (OLD.client_id, OLD.street); END")
		}
		execute(t, db, "INSERT INTO clients VALUES (1, 'a'), (2, 'b')",
			"INSERT INTO residences VALUES (1, 1, 'Main Street 1'), (2, 2, 'Main Street 1')",
			"UPDATE residences SET street = 'Main Street 2'")
		a := existingApplication(t, db, nil, (*client)(nil), (*residence)(nil), (*residenceHistory)(nil))
		for _, id := range []string{"1", "2"} { // for the second subject, the store has cached the catalog
			if rows := a.erase(t, id); rows["delete residences_history"] != 2 {
				t.Errorf("erased %v", rows)
			}
		}
		if left, err := db.NewSelect().Model((*residenceHistory)(nil)).Count(t.Context()); err != nil || left > 0 {
			t.Errorf("after committed erasures the history has %d rows, %v", left, err)
		}
	})
}

type tenancy struct {
	bun.BaseModel `bun:"table:tenancies"`
	ID            int64   `bun:"id,pk"`
	ClientID      int64   `bun:"client_id"`
	Client        *client `bun:"rel:belongs-to,join:client_id=id" subject:"path"`
	SentTo        string  `bun:"sent_to" pii:"contact,erasure:anonymize"`
}

// A trigger of one table writes an old value into a row of another table, whose erasure step came earlier and has kept
// the row. The erasure must overwrite the value again. An erasure ends although a trigger changes each surrogate.
func TestValuesThatATriggerWritesIntoARowThatStaysAreErasedToo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write string
		left  []string
	}{
		"an old value":         {"UPDATE tenancies SET sent_to = OLD.email WHERE client_id = OLD.id;", nil},
		"a value of its own":   {"UPDATE tenancies SET sent_to = 'nobody' WHERE client_id = OLD.id;", nil},
		"a changed surrogate":  {"UPDATE tenancies SET sent_to = NEW.email || '!' WHERE client_id = OLD.id;", nil},
		"a surrogate, forever": {"", []string{"tenancies.sent_to"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
				execute(t, db, "CREATE TABLE clients (id bigint PRIMARY KEY, email text)",
					"CREATE TABLE tenancies (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, sent_to text)")
				execute(t, db, "INSERT INTO clients VALUES (1, 'a@example.org'), (2, 'b@example.org')",
					"INSERT INTO tenancies VALUES (1, 1, NULL), (2, 2, 'b@example.org')")
				on, write, depth := "clients", c.write, ""
				if write == "" {
					on, write = "tenancies", "UPDATE tenancies SET sent_to = 'forever' WHERE id = OLD.id;"
					execute(t, db, "UPDATE tenancies SET sent_to = 'a@example.org' WHERE id = 1") // NULL would stay NULL
					depth = " WHEN (NEW.sent_to <> 'forever')"
				}
				if db.Dialect().Name() == dialect.PG {
					execute(t, db,
						"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+write+" RETURN NULL; END $$",
						"CREATE TRIGGER keep AFTER UPDATE ON "+on+" FOR EACH ROW"+depth+" EXECUTE FUNCTION keep()")
				} else {
					execute(t, db, "CREATE TRIGGER keep AFTER UPDATE ON "+on+depth+" BEGIN "+write+" END")
				}
				a := existingApplication(t, db, nil, (*client)(nil), (*tenancy)(nil))
				a.erase(t, "1")
				if left := a.leftOver(t, time.Now(), "1"); !slices.Equal(left, c.left) {
					t.Errorf("left over: %q, want %q", left, c.left)
				}
				var other string
				must(t, db.QueryRowContext(t.Context(), "SELECT sent_to FROM tenancies WHERE id = 2").Scan(&other))
				if other != "b@example.org" {
					t.Error("the row of another person has changed")
				}
			})
		})
	}
}

// A trigger changes each surrogate, and adds a row to a history. It refuses a second update. An erasure must not repeat
// the step because of the changed surrogate.
func TestAStepIsNotRepeatedBecauseOfItsOwnTrigger(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		const write = "UPDATE clients SET email = 'changed' WHERE id = OLD.id;" +
			" INSERT INTO residences_history (client_id, street) VALUES (OLD.id, OLD.email);"
		execute(t, db, "CREATE TABLE clients (id bigint PRIMARY KEY, email text)",
			"INSERT INTO clients VALUES (1, 'a@example.org'), (2, 'b@example.org')")
		if db.Dialect().Name() == dialect.PG {
			execute(t, db,
				"CREATE TABLE residences_history (id bigserial PRIMARY KEY, client_id bigint REFERENCES clients, street text)",
				"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+write+" RETURN NULL; END $$",
				"CREATE TRIGGER keep AFTER UPDATE ON clients FOR EACH ROW WHEN (NEW.email <> 'changed') EXECUTE FUNCTION keep()",
				"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'again'; END $$",
				"CREATE TRIGGER refuse BEFORE UPDATE ON clients FOR EACH ROW WHEN (OLD.email = 'changed')"+
					" EXECUTE FUNCTION refuse()")
		} else {
			execute(t, db,
				"CREATE TABLE residences_history (id integer PRIMARY KEY, client_id bigint REFERENCES clients, street text)",
				"CREATE TRIGGER keep AFTER UPDATE ON clients WHEN NEW.email <> 'changed' BEGIN "+write+" END",
				"CREATE TRIGGER refuse BEFORE UPDATE ON clients WHEN OLD.email = 'changed' BEGIN SELECT RAISE(ABORT, 'again'); END")
		}
		a := existingApplication(t, db, nil, (*client)(nil), (*residenceHistory)(nil))
		a.erase(t, "1")
		if left := a.leftOver(t, time.Now(), "1"); !slices.Equal(left, []string{"clients.email"}) {
			t.Errorf("left over: %q", left)
		}
	})
}

// Triggers of two tables write into each other's rows, and one adds a row to a history. The erasure must stop repeating
// the steps of the two tables early enough to delete the last row of the history.
func TestTriggersThatWriteIntoEachOthersRowsLetAnErasureEnd(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	execute(t, db, "CREATE TABLE clients (id bigint PRIMARY KEY, email text)",
		"CREATE TABLE tenancies (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, sent_to text)",
		"CREATE TABLE residences_history (id bigserial PRIMARY KEY, client_id bigint REFERENCES clients, street text)",
		"INSERT INTO clients VALUES (1, 'a@example.org')", "INSERT INTO tenancies VALUES (1, 1, 'a@example.org')")
	for table, code := range map[string]string{
		"clients": "UPDATE tenancies SET sent_to = 'client ' || NEW.email WHERE client_id = OLD.id;" +
			" INSERT INTO residences_history (client_id, street) VALUES (OLD.id, OLD.email);",
		"tenancies": "UPDATE clients SET email = 'tenancy ' || NEW.sent_to WHERE id = OLD.client_id;",
	} {
		execute(t, db,
			"CREATE FUNCTION of_"+table+"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+code+" RETURN NULL; END $$",
			"CREATE TRIGGER t AFTER UPDATE ON "+table+" FOR EACH ROW WHEN (pg_trigger_depth() = 0)"+
				" EXECUTE FUNCTION of_"+table+"()")
	}
	a := existingApplication(t, db, nil, (*client)(nil), (*tenancy)(nil), (*residenceHistory)(nil))
	a.erase(t, "1")
	if left := a.leftOver(t, time.Now(), "1"); len(left) != 1 {
		t.Errorf("left over: %q", left)
	}
}

type card struct {
	bun.BaseModel `bun:"table:client_cards"`
	ID            int64   `bun:"id,pk"`
	Client        *client `bun:"rel:belongs-to,join:id=id"`
	Name          string  `bun:"name" pii:"identity,erasure:anonymize"`
}

// Two tables of the data map share a row, for example a table and a view of this table. Both an erasure step of the
// table and one of the view change this row. A PostgreSQL statement changes a row only once, and ignores a second
// change without an error. The erasure must therefore run these steps in separate statements.
func TestARowOfTwoTablesIsErasedCompletely(t *testing.T) {
	t.Parallel()
	const clients = "CREATE TABLE clients (id bigint PRIMARY KEY, email text, name text)"
	for kind, tables := range map[string][]string{
		"a view":                {clients, "CREATE VIEW client_cards AS SELECT id, email, name FROM clients"},
		"a table that inherits": {clients, "CREATE TABLE client_cards () INHERITS (clients)"},
		"a partition of another": {
			clients + " PARTITION BY RANGE (id)", "CREATE TABLE client_cards PARTITION OF clients DEFAULT",
		},
	} {
		t.Run(kind, func(t *testing.T) {
			db := databases.PostgreSQL(t)
			must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
			execute(t, db, append(tables, "INSERT INTO client_cards VALUES (1, 'a@b.c', 'Alice')")...)
			a := existingApplication(t, db, nil, (*client)(nil), (*card)(nil))
			wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize clients": 1, "anonymize client_cards": 1})
			var email, name string
			must(t, db.QueryRowContext(t.Context(), "SELECT email, name FROM clients").Scan(&email, &name))
			if email == "a@b.c" || name == "Alice" {
				t.Error("half of the row is erased")
			}
		})
	}
}

type pinned struct {
	bun.BaseModel `bun:"table:pinned"`
	ID            int64          `bun:"id,pk" subject:"id"`
	Position      map[string]any `bun:"position" pii:"location,erasure:anonymize"`
	Source        int            `bun:"source" pii:"behavioral,erasure:anonymize"`
}

func TestAColumnMayHaveAnyName(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, nil, (*pinned)(nil))
		a.insert(t, &pinned{ID: 1, Position: map[string]any{"lat": 1}, Source: 2})
		wantValues(t, a.values(t, "1"), map[string]string{"position": `{"lat":1}`, "source": `2`})
	})
}

// If the context ends during a statement that combines several steps, it is unknown which step failed. The audit event
// of the failure must not name a step.
func TestAnUnknownFailedStepIsNotNamed(t *testing.T) {
	t.Parallel()
	hook := &hookThatCancels{}
	s := newShop(t, databases.WithHook(databases.PostgreSQL(t), hook), 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.cacheCatalog(t)
	hook.cancel = cancel
	err := s.store.Do(ctx, func(ctx context.Context, session ports.Session) error {
		_, err := s.eraser.Erase(ctx, session, s.alice)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	s.do(t, func(ctx context.Context, session ports.Session) error {
		trail, err := session.Audit().Trail(ctx, s.alice.ID)
		if len(trail) != 2 || !equalPayload(trail[1].Payload, domain.Payload{"error": "canceled"}) {
			t.Errorf("trail %+v", trail)
		}
		return err
	})
}

// hookThatCancels is a query hook that cancels a context before the combined statement of an erasure.
type hookThatCancels struct{ cancel func() }

func (h *hookThatCancels) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if strings.HasPrefix(event.Query, "WITH s0 AS") {
		h.cancel()
	}
	return ctx
}

func (h *hookThatCancels) AfterQuery(context.Context, *bun.QueryEvent) {}

// hookThatPanics is a query hook that panics before each statement that contains a given text.
type hookThatPanics struct{ at string }

func (h *hookThatPanics) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if h.at != "" && strings.Contains(event.Query, h.at) {
		panic("a hook of the application")
	}
	return ctx
}

func (h *hookThatPanics) AfterQuery(context.Context, *bun.QueryEvent) {}

func TestAPanicAtTheBeginReleasesItsConnection(t *testing.T) {
	t.Parallel()
	hook := &hookThatPanics{}
	db := databases.PostgreSQL(t)
	db.SetMaxOpenConns(2)
	s := newShop(t, databases.WithHook(db, hook), 1)
	lock := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		return s.store.Do(ctx, func(ctx context.Context, session ports.Session) error {
			return errOf(session.Subjects().Lock(ctx, s.alice.ID, time.Now()))
		})
	}
	for range 3 {
		hook.at = "BEGIN"
		func() {
			defer func() { _ = recover() }()
			_ = lock()
		}()
	}
	hook.at = ""
	must(t, lock())
}

func TestAPanicOfTheNotificationIsContained(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.WithHook(databases.PostgreSQL(t), &hookThatPanics{at: "pg_notify"}), 1, desk{})
	s.alice.Refs = []domain.SubjectRef{{Kind: "desk", Value: "c-1"}}
	for range 3 {
		if _, err := s.erase(s.alice); err != nil {
			t.Error(err)
		}
	}
}
