package schemas

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// restricted creates a role with all privileges on the tables, and executes statements that change these privileges.
// All new connections use this role.
func restricted(t *testing.T, db *bun.DB, statements ...string) {
	t.Helper()
	execute(t, db, slices.Concat([]string{
		"DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'habeas_part') THEN" +
			" CREATE ROLE habeas_part; END IF; END $$",
		"DO $$ BEGIN EXECUTE format('GRANT ALL ON %s TO habeas_part', (SELECT string_agg(quote_ident(tablename), ', ')" +
			" FROM pg_tables WHERE schemaname = 'public')); END $$",
		"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO habeas_part", "GRANT habeas_part TO CURRENT_USER",
	}, statements, []string{
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET role = habeas_part', current_database()); END $$",
	})...)
	databases.Reconnect(db)
}

func TestAPrivilegeThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		revoke  string
		says    []string
		target  any  // the expected target in the event of a failed step; one statement of several steps has none
		refused any  // the expected target in a rehearsal
		rectify bool // a rectification fails too
	}{
		"the subject's table cannot be locked": {
			"REVOKE UPDATE ON people FROM habeas_part", []string{"people", "UPDATE"}, nil, nil, true,
		},
		"the subject's table cannot be read": {
			"REVOKE SELECT ON people FROM habeas_part", []string{"people", "SELECT"}, nil, nil, true,
		},
		"a table that others are reached through cannot be locked": {
			"REVOKE UPDATE ON orders FROM habeas_part", []string{"orders", "UPDATE"}, nil, nil, false,
		},
		"rows cannot be deleted": {
			"REVOKE DELETE ON items FROM habeas_part", []string{"items", "DELETE"}, nil, "items", false,
		},
		"a trigger lacks something": {
			"REVOKE INSERT ON history FROM habeas_part", []string{"items", "privilege"}, "items", "items", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := onPostgres(t)
			a := open(t, db, app.Config{Models: shop}, append(shopTables(), "CREATE TABLE history (id bigint)")...)
			if strings.Contains(name, "trigger") {
				execute(t, db, function("AFTER DELETE", "items", "INSERT INTO history VALUES (OLD.id); RETURN NULL;")...)
			}
			restricted(t, db, test.revoke)
			calls := map[string]func(context.Context, ports.Session, domain.Subject) error{"erase": a.erasing}
			if test.rectify {
				calls["rectify"] = a.rectifying
			}
			for what, fn := range calls {
				subject := fixture.MustSubject(t, "1")
				alone := a.Stack().Sessions.Do(t.Context(),
					func(ctx context.Context, s ports.Session) error { return fn(ctx, s, subject) })
				for how, err := range map[string]error{"alone": alone, "joined": a.joined(t, fn, nil, []string{"SELECT 1"})} {
					if !errors.Is(err, domain.ErrConfiguration) {
						t.Errorf("%s %s: got %v (%v)", what, how, err, errors.Unwrap(err))
						continue
					}
					for _, word := range test.says {
						if !strings.Contains(err.Error(), word) {
							t.Errorf("%s %s: %v does not say %s", what, how, err, word)
						}
					}
					if strings.Contains(err.Error(), "denied") || strings.Contains(err.Error(), "example.org") {
						t.Errorf("%s %s: %v", what, how, err)
					}
				}
			}
			if strings.Contains(test.revoke, "SELECT") {
				if _, err := a.export(t.Context(), "1"); !errors.Is(err, domain.ErrConfiguration) ||
					!strings.Contains(err.Error(), "people: ") {
					t.Errorf("export: got %v", err)
				}
			}
			failures := a.failed(t, "1")
			if test.refused != nil && (len(failures) != 2 || failures[0]["target"] != test.target ||
				failures[0]["error"] != "configuration") {
				t.Errorf("evidence %v", failures)
			}
			if test.refused != nil {
				subject := fixture.MustSubject(t, "1")
				rehearsal, err := a.Operator().Rehearse(t.Context(), subject)
				if err != nil || rehearsal.Refused == nil || rehearsal.Refused.Target != test.refused {
					t.Errorf("the rehearsal says %+v, %v", rehearsal.Refused, err)
				}
			}
			if n := a.count(t, "SELECT count(*) FROM items"); n != 2 {
				t.Error("a part of the erasure is there")
			}
		})
	}
}

// On the table "clients", the role has only the privileges that an erasure needs: SELECT, and UPDATE of the erased
// columns.
func TestPrivilegesOnColumnsAreEnough(t *testing.T) {
	t.Parallel()
	db := onPostgres(t)
	a := open(t, db, app.Config{Models: clients}, plainClients...)
	restricted(t, db, "REVOKE ALL ON clients FROM habeas_part",
		"GRANT SELECT, UPDATE (email, code, token, age, extra) ON clients TO habeas_part")
	_, err := a.erase(t.Context(), "1")
	must(t, err)
}

func TestATableWhoseRowsCannotBeLockedIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		table      string
		statements []string
	}{
		"a materialized view of subjects": {"people", []string{
			"ALTER TABLE people RENAME TO all_people", "CREATE MATERIALIZED VIEW people AS SELECT * FROM all_people",
		}},
		"a materialized view of what others are reached through": {"orders", []string{
			"ALTER TABLE items DROP CONSTRAINT items_order_id_fkey",
			"ALTER TABLE orders RENAME TO all_orders", "CREATE MATERIALIZED VIEW orders AS SELECT * FROM all_orders",
		}},
		"a materialized view of leaves": {"items", []string{
			"ALTER TABLE items RENAME TO all_items", "CREATE MATERIALIZED VIEW items AS SELECT * FROM all_items",
		}},
		"a foreign table": {"people", []string{
			"ALTER TABLE people RENAME TO all_people",
			"CREATE EXTENSION file_fdw", "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
			"CREATE FOREIGN TABLE people (id bigint, email text) SERVER files" +
				" OPTIONS (program 'echo 1,a@example.org', format 'csv')",
		}},
		"a view of a foreign table": {"people", []string{
			"ALTER TABLE people RENAME TO all_people",
			"CREATE EXTENSION file_fdw", "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
			"CREATE FOREIGN TABLE remote (id bigint, email text) SERVER files" +
				" OPTIONS (program 'echo 1,a@example.org', format 'csv')",
			"CREATE VIEW people AS SELECT * FROM remote",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, onPostgres(t), app.Config{Models: shop}, slices.Concat(shopTables(), test.statements)...)
			for how, err := range map[string]error{
				"alone": second(a.erase(t.Context(), "1")), "joined": a.joined(t, a.erasing, nil, nil),
			} {
				if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), test.table) ||
					strings.Contains(err.Error(), "cannot lock rows in") {
					t.Errorf("%s: got %v (%v)", how, err, errors.Unwrap(err))
				}
			}
		})
	}
}
