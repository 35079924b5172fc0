package attack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/databases"
)

// Rows arrive all the while, the table has a trigger and no foreign key.
func TestABusyTableWithATriggerAndWithoutAForeignKey(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: ownedClients}, append(clientsTable(),
		"CREATE TABLE letters (id bigserial PRIMARY KEY, client_id bigint, body text)",
		"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
		"CREATE TRIGGER f BEFORE UPDATE ON letters FOR EACH ROW EXECUTE FUNCTION f()")...)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for ctx.Err() == nil {
				_, _ = db.ExecContext(ctx, "INSERT INTO letters (client_id, body) VALUES (1, 'x')")
			}
		})
	}
	failed := map[string]int{}
	for range 30 {
		if _, err := a.erase(t.Context(), "1"); err != nil && !errors.Is(err, domain.ErrUnavailable) {
			failed[err.Error()]++
		}
	}
	cancel()
	wg.Wait()
	if len(failed) > 0 {
		t.Errorf("failed with other errors than unavailable: %v", failed)
	}
}

// All that can happen to one subject at the same time.
func TestEverythingAtOnce(t *testing.T) {
	for _, trigger := range []bool{false, true} {
		databases.Each(t, func(t *testing.T, db *bun.DB) {
			statements := append(clientsTable(),
				"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, body text)",
				"CREATE TABLE enclosures (id bigint PRIMARY KEY, letter_id bigint REFERENCES letters, body text)")
			if trigger && isPostgres(db) {
				for _, table := range []string{"clients", "letters", "enclosures"} {
					statements = append(statements, "CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
						"CREATE TRIGGER f BEFORE UPDATE ON "+table+" FOR EACH ROW EXECUTE FUNCTION f()")
				}
			} else if trigger {
				statements = append(statements, "CREATE TRIGGER f AFTER UPDATE ON clients BEGIN SELECT 1; END")
			}
			a := open(t, db, app.Config{Models: []any{(*client)(nil), (*ownedLetter)(nil), (*enclosure)(nil)}}, statements...)
			var mu sync.Mutex
			problems := map[string]int{}
			note := func(what string, err error) {
				if err == nil {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				problems[fmt.Sprintf("%s: %v (%v)", what, err, errors.Unwrap(err))]++
			}
			ctx, cancel := context.WithCancel(t.Context())
			var wg, busy sync.WaitGroup
			for n := range 2 {
				busy.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						id := (i+1)*10 + n
						_ = db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
							if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO letters VALUES (%d, 1, 'x')", id)); err != nil {
								return err
							}
							_, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO enclosures VALUES (%d, %d, 'x')", id, id))
							return err
						})
					}
				})
			}
			for range 3 {
				wg.Go(func() {
					for range 10 {
						_, err := a.erase(t.Context(), "1")
						note("erase", err)
						_, err = a.export(t.Context(), "1")
						note("export", err)
						_, err = a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "c@example.org"})
						note("rectify", err)
					}
				})
			}
			wg.Wait()
			cancel()
			busy.Wait()
			if len(problems) > 0 {
				t.Errorf("trigger %v: %v", trigger, problems)
			}
		})
	}
}

type node struct {
	bun.BaseModel `bun:"table:nodes" subject:"owned"`
	ID            int64   `bun:"id,pk"`
	ParentID      *int64  `bun:"parent_id"`
	Parent        *node   `bun:"rel:belongs-to,join:parent_id=id"`
	ClientID      int64   `bun:"client_id"`
	Client        *client `bun:"rel:belongs-to,join:client_id=id"`
	Body          string  `bun:"body" pii:"communication"`
}

func TestShapesOfPostgreSQL(t *testing.T) {
	trigger := func(table string) []string {
		return []string{
			"CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN COALESCE(NEW, OLD); END $$",
			"CREATE TRIGGER f BEFORE UPDATE OR DELETE ON " + table + " FOR EACH ROW EXECUTE FUNCTION f()",
		}
	}
	for name, c := range map[string]struct{ create []string }{
		"cascade":          {[]string{"CREATE TABLE nodes (id bigint PRIMARY KEY, parent_id bigint REFERENCES nodes ON DELETE CASCADE, client_id bigint REFERENCES clients ON DELETE CASCADE, body text)"}},
		"set null":         {[]string{"CREATE TABLE nodes (id bigint PRIMARY KEY, parent_id bigint REFERENCES nodes ON DELETE SET NULL, client_id bigint REFERENCES clients, body text)"}},
		"no action":        {[]string{"CREATE TABLE nodes (id bigint PRIMARY KEY, parent_id bigint REFERENCES nodes, client_id bigint REFERENCES clients, body text)"}},
		"deferred":         {[]string{"CREATE TABLE nodes (id bigint PRIMARY KEY, parent_id bigint REFERENCES nodes DEFERRABLE INITIALLY DEFERRED, client_id bigint REFERENCES clients DEFERRABLE INITIALLY DEFERRED, body text)"}},
		"identity":         {[]string{"CREATE TABLE nodes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parent_id bigint, client_id bigint, body text, lower_body text GENERATED ALWAYS AS (lower(body)) STORED)"}},
		"exclusion":        {[]string{"CREATE TABLE nodes (id bigint PRIMARY KEY, parent_id bigint, client_id bigint, body text, EXCLUDE (id WITH =))"}},
		"temp":             {[]string{"CREATE UNLOGGED TABLE nodes (id bigint PRIMARY KEY, parent_id bigint, client_id bigint, body text)"}},
		"partitioned":      {[]string{"CREATE TABLE nodes (id bigint PRIMARY KEY, parent_id bigint, client_id bigint REFERENCES clients, body text) PARTITION BY HASH (id)", "CREATE TABLE n0 PARTITION OF nodes FOR VALUES WITH (MODULUS 2, REMAINDER 0)", "CREATE TABLE n1 PARTITION OF nodes FOR VALUES WITH (MODULUS 2, REMAINDER 1)"}},
		"other schema":     {[]string{"CREATE SCHEMA shop", "CREATE TABLE shop.nodes (id bigint PRIMARY KEY, parent_id bigint, client_id bigint, body text)", "CREATE VIEW nodes AS SELECT * FROM shop.nodes"}},
		"view with column": {[]string{"CREATE TABLE all_nodes (id bigint PRIMARY KEY, parent_id bigint, client_id bigint, body text)", "CREATE VIEW nodes AS SELECT id, parent_id, client_id, body FROM all_nodes"}},
	} {
		for _, triggers := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				insert := "INSERT INTO nodes (id, parent_id, client_id, body) OVERRIDING SYSTEM VALUE VALUES (1, NULL, 1, 'x'), (2, 1, 1, 'y'), (3, 2, 1, 'z'), (9, NULL, 2, 'other')"
				statements := slices.Concat(clientsTable(), c.create, []string{insert})
				if triggers && name != "other schema" && name != "view with column" {
					statements = append(statements, trigger("nodes")...)
				}
				a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{(*client)(nil), (*node)(nil)}}, statements...)
				if b, err := a.export(t.Context(), "1"); err != nil || len(b.Records) != 4 {
					t.Error(len(b.Records), err)
				}
				r, err := a.erase(t.Context(), "1")
				if err != nil || r.Deleted["nodes"] != 3 {
					t.Errorf("%v %v (%v)", r, err, errors.Unwrap(err))
				}
				if a.count(t, "SELECT count(*) FROM nodes") != 1 {
					t.Error("wrong rows")
				}
			})
		}
	}
}

// In the application's own transaction, with savepoints, on both databases.
func TestJoinedWithTriggers(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		statements := append(clientsTable(), "CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, body text)",
			"INSERT INTO letters VALUES (1, 1, 'x')")
		if isPostgres(db) {
			statements = append(statements, "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
				"CREATE TRIGGER f BEFORE DELETE ON letters FOR EACH ROW EXECUTE FUNCTION f()")
		} else {
			statements = append(statements, "CREATE TRIGGER f BEFORE DELETE ON letters BEGIN SELECT RAISE(IGNORE); END")
		}
		a := open(t, db, app.Config{Models: ownedClients}, statements...)
		subject, _ := domain.NewSubject("1")
		err := db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
			factory, err := a.Join(tx)
			must(t, err)
			err = factory.Do(ctx, func(ctx context.Context, s ports.Session) error {
				_, err := a.Stack().Eraser.Erase(ctx, s, subject)
				return err
			})
			if err == nil {
				t.Error("success")
			}
			_, err = tx.ExecContext(ctx, "UPDATE clients SET email = 'host' WHERE id = 1")
			return err
		})
		must(t, err)
		if a.text(t, "SELECT email FROM clients WHERE id = 1") != "host" {
			t.Error("host's work is lost")
		}
	})
}

// A deferred trigger of the host's transaction restores what was erased.
func TestJoinedWithADeferredTrigger(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: []any{(*client)(nil)}}, append(clientsTable(),
		"CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE clients SET email = OLD.email WHERE id = OLD.id; RETURN NULL; END $$",
		"CREATE CONSTRAINT TRIGGER guard AFTER UPDATE ON clients DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.email LIKE 'anon-%') EXECUTE FUNCTION guard()")...)
	subject, _ := domain.NewSubject("1")
	err := db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
		factory, err := a.Join(tx)
		must(t, err)
		return factory.Do(ctx, func(ctx context.Context, s ports.Session) error {
			_, err := a.Stack().Eraser.Erase(ctx, s, subject)
			return err
		})
	})
	if err == nil && a.text(t, "SELECT email FROM clients WHERE id = 1") == "a@example.org" {
		t.Error("success, and the address is back")
	}
}

// A rectification that a trigger undoes is no success.
func TestARectificationThatIsUndone(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := []string{"CREATE TRIGGER f BEFORE UPDATE ON clients BEGIN SELECT RAISE(IGNORE); END"}
		if isPostgres(db) {
			trigger = []string{"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.email := OLD.email; RETURN NEW; END $$",
				"CREATE TRIGGER f BEFORE UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION f()"}
		}
		a := open(t, db, app.Config{Models: []any{(*client)(nil)}}, append(clientsTable(), trigger...)...)
		r, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "c@example.org"})
		if err == nil && r.Rectified["clients"] > 0 && a.text(t, "SELECT email FROM clients WHERE id = 1") != "c@example.org" {
			t.Errorf("%+v", r)
		}
	})
}

// DDL while exports and erasures run.
func TestDDLWhileRunning(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: ownedClients}, append(clientsTable(),
			"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text)")...)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if _, err := db.ExecContext(ctx, fmt.Sprintf("ALTER TABLE letters ADD COLUMN c%d int", i)); err != nil {
					continue
				}
				_, _ = db.ExecContext(ctx, fmt.Sprintf("ALTER TABLE letters DROP COLUMN c%d", i))
			}
		})
		problems := map[string]int{}
		for ctx.Err() == nil {
			if _, err := a.export(t.Context(), "1"); err != nil && !errors.Is(err, domain.ErrUnavailable) {
				problems["export: "+err.Error()]++
			}
			if _, err := a.erase(t.Context(), "1"); err != nil && !errors.Is(err, domain.ErrUnavailable) {
				problems["erase: "+err.Error()]++
			}
		}
		wg.Wait()
		if len(problems) > 0 {
			t.Error(problems)
		}
	})
}
