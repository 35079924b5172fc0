package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// createdBy creates the tables of an earlier version, in the way in which that version did. The names are those of the
// files in testdata/upgrades and of the migrations that the version recorded.
func createdBy(t *testing.T, db *bun.DB, files ...[2]string) {
	t.Helper()
	execute(t, db, "CREATE TABLE IF NOT EXISTS habeas_migrations (name TEXT PRIMARY KEY, applied_at TIMESTAMP NOT NULL "+
		"DEFAULT CURRENT_TIMESTAMP)")
	for _, file := range files {
		text, err := os.ReadFile("testdata/upgrades/" + systemOf(db) + "/" + file[0])
		if os.IsNotExist(err) {
			text, err = os.ReadFile("migrations/" + systemOf(db) + "/" + file[0])
		}
		must(t, err)
		for _, statement := range strings.Split(string(text), "\n\n") {
			execute(t, db, statement)
		}
		execute(t, db, "INSERT INTO habeas_migrations (name) VALUES ('"+file[1]+"')")
	}
}

func systemOf(db *bun.DB) string {
	if db.Dialect().Name() == dialect.PG {
		return "postgres"
	}
	return "sqlite"
}

// The files of the versions that Migrate brings forward, and the migrations that these versions recorded.
var earlier = map[string][][2]string{
	"0001_ledgers and 0002_outbox_stage": {
		{"older_0001_ledgers.sql", "0001_ledgers.sql"}, {"older_0002_outbox_stage.sql", "0002_outbox_stage.sql"},
	},
	"the first 0001_habeas":   {{"first_0001_habeas.sql", "0001_habeas.sql"}},
	"the current 0001_habeas": {{"0001_habeas.sql", "0001_habeas.sql"}},
}

const outboxColumns = "entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, enqueued_at, " +
	"last_attempt_at, next_attempt_at, last_error, lease_token"

// insertEarlier inserts rows of each kind into the tables of an earlier version. The marks are not in the order of
// their instants, and a consent that was recorded last has an earlier instant.
func insertEarlier(t *testing.T, db *bun.DB) {
	t.Helper()
	const at = "2024-03-01T12:00:0%.000000Z"
	instant := func(second string) string { return "'" + strings.Replace(at, "%", second, 1) + "'" }
	execute(t, db,
		"INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source) VALUES "+
			"('1', 'news', 'v1', TRUE, "+instant("5")+", 'api'), ('1', 'news', 'v2', FALSE, "+instant("2")+", 'api'), "+
			"('1', 'ads', 'v1', TRUE, "+instant("3")+", 'api')",
		"INSERT INTO habeas_restriction_records (subject_id, purpose, restricted, reason, recorded_at, source) VALUES "+
			"('1', NULL, TRUE, 'accuracy', "+instant("1")+", 'api'), ('1', 'ads', TRUE, NULL, "+instant("2")+", 'api')",
		"INSERT INTO habeas_audit_events (event_id, event_type, subject_ref, occurred_at, payload) VALUES "+
			"('e2', 'consent_granted', '1', "+instant("2")+", '{}'), ('e1', 'consent_withdrawn', '1', "+instant("1")+", '{}')",
		"INSERT INTO habeas_outbox ("+outboxColumns+") VALUES "+
			"('p', '2', 'desk', '{\"kind\":\"desk\",\"value\":\"c2\"}', 'erase', NULL, 'pending', 0, "+instant("1")+
			", NULL, NULL, NULL, NULL), "+
			"('i', '3', 'desk', '{\"kind\":\"desk\",\"value\":\"c3\"}', 'erase', NULL, 'in_flight', 1, "+instant("2")+
			", "+instant("3")+", "+instant("4")+", NULL, 'token'), "+
			"('f', '4', 'desk', '{\"kind\":\"desk\",\"value\":\"c4\"}', 'rectify', '{\"contact.email\":\"x\"}', 'failed', 2, "+
			instant("3")+", "+instant("4")+", "+instant("5")+", 'timeout', NULL), "+
			"('a', '5', 'desk', '{\"kind\":\"desk\",\"value\":\"c5\"}', 'erase', NULL, 'abandoned', 3, "+instant("4")+
			", "+instant("5")+", NULL, 'refused', NULL), "+
			"('s', '6', 'desk', NULL, 'erase', NULL, 'succeeded', 1, "+instant("5")+", "+instant("6")+", NULL, NULL, NULL)",
	)
	if !hasColumn(t, db, "habeas_subject_erasures", "intake") {
		execute(t, db, "INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures) VALUES ('9', "+instant("3")+
			", 1), ('8', "+instant("1")+", 2), ('7', "+instant("2")+", 1)")
		return
	}
	for i, id := range []string{"8", "7", "9"} {
		execute(t, db, "INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures"+
			map[string]string{"sqlite": ", intake", "postgres": ""}[systemOf(db)]+") VALUES ('"+id+"', "+
			instant(string(rune('1'+i)))+", 1"+
			map[string]string{"sqlite": ", " + string(rune('1'+i)), "postgres": ""}[systemOf(db)]+
			")")
	}
}

func hasColumn(t *testing.T, db *bun.DB, table, column string) bool {
	t.Helper()
	_, err := db.ExecContext(t.Context(), "SELECT "+column+" FROM "+table+" LIMIT 0")
	return err == nil
}

// contents returns the rows of a query as one text.
func contents(t *testing.T, db *bun.DB, query string) string {
	t.Helper()
	var rows []map[string]any
	must(t, db.NewRaw(query).Scan(t.Context(), &rows))
	var all strings.Builder
	for _, row := range rows {
		for _, name := range strings.Split(query[len("SELECT "):strings.Index(query, " FROM")], ", ") {
			all.WriteString(name + "=" + text(row[name]) + " ")
		}
		all.WriteString("\n")
	}
	return all.String()
}

func TestDatabasesOfEarlierVersionsAreBroughtForwardWithTheirRows(t *testing.T) {
	t.Parallel()
	queries := []string{
		"SELECT seq, subject_id, purpose, policy_version, granted, recorded_at, source FROM habeas_consent_records" +
			" ORDER BY seq",
		"SELECT seq, subject_id, purpose, restricted, reason, recorded_at, source FROM habeas_restriction_records" +
			" ORDER BY seq",
		"SELECT seq, event_id, event_type, subject_ref, occurred_at, payload FROM habeas_audit_events ORDER BY seq",
		"SELECT " + outboxColumns + ", stage FROM habeas_outbox ORDER BY entry_id",
		"SELECT subject_id, erased_at, erasures FROM habeas_subject_erasures ORDER BY subject_id",
	}
	for name, files := range earlier {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				createdBy(t, db, files...)
				insertEarlier(t, db)
				before := make([]string, len(queries))
				for i, query := range queries {
					before[i] = contents(t, db, query)
				}
				wantStates(t, db, name == "the current 0001_habeas")
				must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
				for i, query := range queries {
					if after := contents(t, db, query); after != before[i] || after == "" {
						t.Errorf("%s:\n got %s\nwant %s", query, after, before[i])
					}
				}
				wantCatalog(t, catalog(t, db, "public"), catalog(t, migratedLike(t, db), "public"))
				wantUsable(t, db)
				must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
				if names := contents(t, db, "SELECT name FROM habeas_migrations ORDER BY name"); names !=
					"name=0001_habeas.sql \nname=0002_installation.sql \n" {
					t.Errorf("recorded are %s", names)
				}
			})
		})
	}
}

// wantStates fails unless MigrationStates says that Migrate has to apply the migrations.
func wantStates(t *testing.T, db *bun.DB, current bool) {
	t.Helper()
	states, err := bunstore.MigrationStates(t.Context(), db, bunstore.Options{})
	must(t, err)
	want := domain.MigrationPending
	if current {
		want = domain.MigrationApplied
	}
	if len(states) != 2 || states[0].State != want || states[1].State != domain.MigrationPending {
		t.Errorf("got %v", states)
	}
}

// migratedLike returns a fresh database of the same system, with the current tables.
func migratedLike(t *testing.T, db *bun.DB) *bun.DB {
	t.Helper()
	open := databases.SQLite
	if db.Dialect().Name() == dialect.PG {
		open = databases.PostgreSQL
	}
	fresh := open(t)
	must(t, bunstore.Migrate(t.Context(), fresh, bunstore.Options{}))
	return fresh
}

// wantUsable fails unless a store can use the rows of insertEarlier.
func wantUsable(t *testing.T, db *bun.DB) {
	t.Helper()
	store := newStore(t, db)
	must(t, store.Probe(t.Context()))
	id := subject(t, "1")
	must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		record, err := s.Consents().Latest(ctx, id, "news", nil)
		must(t, err)
		if record == nil || record.Granted || record.PolicyVersion != "v2" {
			t.Errorf("in force is %+v, want the record that was taken in last", record)
		}
		global, _, err := s.Restrictions().Latest(ctx, id, nil)
		must(t, err)
		if global == nil || !global.Restricted {
			t.Errorf("the restriction is %+v", global)
		}
		trail, err := s.Audit().Trail(ctx, id)
		if len(trail) != 2 || trail[0].EventID != "e2" {
			t.Errorf("the trail is %+v", trail)
		}
		return err
	}))
	if marks, last := marksOf(t, store, domain.MarkQuery{Limit: 10}); strings.Join(marks, " ") != "8 7 9" || last != 3 {
		t.Errorf("the marks are %v up to %d", marks, last)
	}
	lock(t, store, "1")
	if marks, last := marksOf(t, store, domain.MarkQuery{After: 3, Limit: 10}); len(marks) != 1 || last <= 3 {
		t.Errorf("the next mark is %v with number %d", marks, last)
	}
	b := box{db, store}
	claimed := b.claim(t, noon.AddDate(1, 0, 0), upTo(10)...)
	if got := strings.Join(ids(claimed), " "); got != "p i f" {
		t.Errorf("claimed are %s", got)
	}
	for _, entry := range claimed {
		if entry.Ref.Value == "" || entry.Attempts == 0 {
			t.Errorf("claimed is %+v", entry)
		}
	}
}

// The statements make the tables of versions between those that Migrate brings forward.
func TestTablesOfAVersionBetweenAreRefused(t *testing.T) {
	t.Parallel()
	first := "the first 0001_habeas"
	for name, c := range map[string]struct {
		created string
		then    []string
		says    []string
	}{
		"without the intake number": {
			"the current 0001_habeas",
			[]string{
				"DROP INDEX habeas_subject_erasures_intake", "ALTER TABLE habeas_subject_erasures DROP COLUMN intake",
				"ALTER TABLE habeas_subject_erasures DROP COLUMN swept_at", "DROP TABLE habeas_positions",
			},
			[]string{"have habeas_outbox.operation_id", "lack habeas_subject_erasures.intake, habeas_subject_erasures.swept_at"},
		},
		"without the instant of the sweep": {
			"the current 0001_habeas",
			[]string{"ALTER TABLE habeas_subject_erasures DROP COLUMN swept_at"},
			[]string{"lack habeas_subject_erasures.swept_at"},
		},
		"with the index of tried entries": {
			first,
			[]string{"CREATE INDEX habeas_outbox_tried ON habeas_outbox (last_attempt_at) WHERE stage = 0"},
			[]string{"have habeas_outbox_tried", "habeas_outbox.tried_since"},
		},
		"without the index of the trail": {
			first, []string{"DROP INDEX habeas_audit_events_trail"}, []string{"lack habeas_audit_events_trail"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				createdBy(t, db, earlier[c.created]...)
				execute(t, db, c.then...)
				store := newStore(t, db)
				before := catalog(t, db, "public")
				_, statesErr := bunstore.MigrationStates(t.Context(), db, bunstore.Options{})
				for _, err := range []error{
					bunstore.Migrate(t.Context(), db, bunstore.Options{}), statesErr, store.Probe(t.Context()),
				} {
					if !errors.Is(err, domain.ErrConfiguration) {
						t.Fatalf("got %v", err)
					}
					for _, says := range append(c.says, "Rename these tables") {
						if !strings.Contains(err.Error(), says) {
							t.Errorf("%q does not say %q", err, says)
						}
					}
				}
				wantCatalog(t, catalog(t, db, "public"), before)
			})
		})
	}
}

func TestTheOlderTablesAloneAreRefused(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		createdBy(t, db, earlier["0001_ledgers and 0002_outbox_stage"][:1]...)
		if err := bunstore.Migrate(t.Context(), db, bunstore.Options{}); !errors.Is(err, domain.ErrConfiguration) ||
			!strings.Contains(err.Error(), "habeas_outbox.stage") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheUpgradeKeepsThePrivilegesOnTheOutbox(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	createdBy(t, db, earlier["the first 0001_habeas"]...)
	var role string
	must(t, db.NewRaw("SELECT 'outbox_' || current_database()").Scan(t.Context(), &role))
	execute(t, db, "CREATE ROLE "+role, "GRANT SELECT, DELETE ON habeas_outbox TO "+role)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		must(t, err)
	})
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	var held string
	must(t, db.NewRaw("SELECT string_agg(privilege_type, ' ' ORDER BY privilege_type) FROM "+
		"information_schema.table_privileges WHERE table_name = 'habeas_outbox' AND grantee = ?", role).
		Scan(t.Context(), &held))
	if held != "DELETE SELECT" {
		t.Errorf("the role has %q", held)
	}
}

// text returns the text of a column value, equal for the same value before and after an upgrade.
func text(value any) string {
	switch value := value.(type) {
	case []byte:
		return string(value)
	case time.Time:
		return value.UTC().Format(time.RFC3339Nano)
	default:
		return fmt.Sprint(value)
	}
}
