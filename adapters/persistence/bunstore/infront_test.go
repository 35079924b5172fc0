package bunstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// appends are the operations that add rows to the tables of habeas without a read before.
var appends = map[string]func(ctx context.Context, s ports.Session, id domain.SubjectID) error{
	"a consent": func(ctx context.Context, s ports.Session, id domain.SubjectID) error {
		return s.Consents().Append(ctx, domain.ConsentRecord{
			SubjectID: id, Purpose: "news", PolicyVersion: "1", Granted: true, RecordedAt: noon, Source: "api",
		})
	},
	"a restriction": func(ctx context.Context, s ports.Session, id domain.SubjectID) error {
		return s.Restrictions().Append(ctx, domain.RestrictionRecord{
			SubjectID: id, Restricted: true, RecordedAt: noon, Source: "api",
		})
	},
	"an event": func(ctx context.Context, s ports.Session, id domain.SubjectID) error {
		return s.Audit().Append(ctx, domain.AuditEvent{
			EventID: "event", EventType: domain.EventConsentGranted, SubjectRef: id, OccurredAt: noon, Payload: domain.Payload{},
		})
	},
	"an outbox entry": func(ctx context.Context, s ports.Session, id domain.SubjectID) error {
		return s.Outbox().Enqueue(ctx, entry("entry", id))
	},
}

func entry(name string, id domain.SubjectID) domain.OutboxEntry {
	return domain.OutboxEntry{
		EntryID: name, SubjectID: id, Resolver: "desk", Ref: domain.SubjectRef{Kind: "desk", Value: "7"},
		Operation: domain.OperationErase, EnqueuedAt: noon, RequestedAt: noon,
	}
}

// hide creates a temporary table or view in front of a table of habeas, and returns the statement that drops it.
func hide(t *testing.T, db bun.IDB, kind, table string) (drop string) {
	t.Helper()
	switch {
	case kind == "VIEW":
		databases.Execute(t, db, "CREATE TEMPORARY VIEW "+table+" AS SELECT 1 AS seq")
	case db.Dialect().Name() == dialect.PG:
		databases.Execute(t, db, "CREATE TEMPORARY TABLE "+table+" (LIKE "+table+" INCLUDING ALL)")
	default:
		databases.Execute(t, db, "CREATE TEMPORARY TABLE "+table+" AS SELECT * FROM "+table)
	}
	return "DROP " + kind + " " + table
}

// The rows would vanish with the temporary table at the end of the connection.
func TestAnAppendBehindATemporaryTableIsRefused(t *testing.T) {
	t.Parallel()
	tables := []string{
		"habeas_consent_records", "habeas_restriction_records", "habeas_audit_events", "habeas_outbox",
		"habeas_subject_erasures",
	}
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		db.SetMaxOpenConns(1)
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		store, id := recorded(t, newStore(t, db)), subjectID(t, "1")
		refused := func(what, table string, do func(context.Context, func(context.Context, ports.Session) error) error) {
			t.Helper()
			for name, add := range appends {
				err := do(t.Context(), func(ctx context.Context, s ports.Session) error { return add(ctx, s, id) })
				named := errors.Is(err, domain.ErrConfiguration) && strings.Contains(err.Error(), table+": is a temporary")
				if err == nil || !named && strings.HasPrefix(what, "behind a table") {
					t.Errorf("%s %s of the name %s: %v", name, what, table, err)
				}
			}
		}
		for _, table := range tables {
			for _, kind := range []string{"TABLE", "VIEW"} {
				drop := hide(t, db, kind, table)
				refused("behind a "+strings.ToLower(kind), table, store.Do)
				databases.Execute(t, db, drop)
			}
			errEnd := errors.New("the application rolls back")
			err := db.RunInTx(t.Context(), nil, func(_ context.Context, tx bun.Tx) error {
				joined, err := store.Join(tx)
				must(t, err)
				hide(t, tx, "TABLE", table)
				refused("behind a table that the application has created in the transaction", table, joined.Do)
				return errEnd
			})
			if !errors.Is(err, errEnd) {
				t.Errorf("the transaction of the application: %v", err)
			}
			var rows int
			must(t, db.NewSelect().Table(table).ColumnExpr("count(*)").Scan(t.Context(), &rows))
			if rows > 0 {
				t.Errorf("%s has %d rows", table, rows)
			}
		}
		for name, add := range appends {
			err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error { return add(ctx, s, id) })
			if err != nil {
				t.Errorf("%s without a temporary table: %v", name, err)
			}
		}
	})
}
