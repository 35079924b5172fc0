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

// failOn creates a trigger that makes each deletion of a row of the table fail.
func failOn(t testing.TB, db *bun.DB, table string) {
	t.Helper()
	statements := []string{
		"CREATE TRIGGER fail BEFORE DELETE ON " + table + " BEGIN SELECT RAISE(ABORT, 'secret value'); END",
	}
	if db.Dialect().Name() == dialect.PG {
		statements = []string{
			"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'secret value'; END $$",
			"CREATE TRIGGER fail BEFORE DELETE ON " + table + " FOR EACH ROW EXECUTE FUNCTION fail()",
		}
	}
	databases.Execute(t, db, statements...)
}

// dump returns all rows of the application's tables and of the tables of habeas, without the audit events.
func (s *shop) dump(t testing.TB) []string {
	t.Helper()
	var dump []string
	for _, table := range []string{
		"users", "orders", "items", "invoices", "habeas_consent_records", "habeas_outbox", "habeas_subject_erasures",
	} {
		var rows []map[string]any
		must(t, s.db.NewSelect().Table(table).Scan(context.Background(), &rows))
		for _, row := range rows {
			dump = append(dump, table+" "+asText(row))
		}
	}
	slices.Sort(dump)
	return dump
}

func (s *shop) erase(subject domain.Subject) (result domain.ErasureResult, err error) {
	err = s.store.Do(context.Background(), func(ctx context.Context, session ports.Session) error {
		result, err = s.eraser.Erase(ctx, session, subject)
		return err
	})
	return result, err
}

// wantFailedStep fails the test unless alice's audit trail shows an erasure that could not delete rows of the table.
func (s *shop) wantFailedStep(t testing.TB, table string) {
	t.Helper()
	var trail []domain.AuditEvent
	s.do(t, func(ctx context.Context, session ports.Session) (err error) {
		trail, err = session.Audit().Trail(ctx, s.alice.ID)
		return err
	})
	if len(trail) != 2 || trail[0].EventType != domain.EventErasureRequested ||
		trail[1].EventType != domain.EventErasureStepFailed {
		t.Fatalf("trail %+v", trail)
	}
	want := domain.Payload{"target": table, "strategy": "delete", "error": trail[1].Payload["error"]}
	if !equalPayload(trail[1].Payload, want) || trail[1].Payload["error"] == "" {
		t.Errorf("payload %v", trail[1].Payload)
	}
}

// rolledBack lists the audit events that an erasure leaves if its session rolls back.
var rolledBack = []domain.EventType{domain.EventErasureRequested, domain.EventErasureStepFailed}

// stuck is a query hook that blocks each statement on the audit trail until the context of the statement ends.
type stuck struct{ statements }

func (*stuck) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if strings.Contains(event.Query, "habeas_audit_events") {
		<-ctx.Done()
	}
	return ctx
}

func TestEvidenceEndsWithTheDeadlineThatItsCallerHasSet(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		db = databases.WithHook(db, &stuck{})
		store := storeOf(t, db, mapOf(t, db, models), bunstore.Options{})
		began := time.Now()
		ctx, cancel := context.WithCancel(ports.WithEvidenceDeadline(context.Background(), began.Add(100*time.Millisecond)))
		defer cancel()
		err := store.Do(ctx, func(ctx context.Context, session ports.Session) error {
			_, err := s.eraser.Erase(ctx, session, s.alice)
			cancel()
			return err
		})
		took := time.Since(began)
		if !errors.Is(err, context.Canceled) || took < 100*time.Millisecond || took > 3*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// busy is an error with the code of SQLITE_BUSY: another transaction has locked the database.
type busy struct{}

func (busy) Error() string { return "busy" }
func (busy) Code() int     { return 5 }

func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		attempts := 0
		err := s.store.Do(context.Background(), func(context.Context, ports.Session) error {
			attempts++
			return busy{}
		})
		if !errors.As(err, &busy{}) || attempts != 5 {
			t.Errorf("%d attempts, %v", attempts, err)
		}
	})
}

func TestASerializationFailureOfPostgreSQLIsRetried(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	s := newShop(t, db, 1)
	for _, statement := range []string{
		"CREATE SEQUENCE attempts",
		"CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('attempts') < 3 THEN " +
			"RAISE EXCEPTION 'lost' USING ERRCODE = 'serialization_failure'; END IF; RETURN NEW; END $$",
		"CREATE TRIGGER lose BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION lose()",
	} {
		_, err := db.ExecContext(context.Background(), statement)
		must(t, err)
	}
	if _, err := s.erase(s.alice); err != nil {
		t.Fatal(err)
	}
	if trail := s.trail(t, s.alice.ID); slices.Contains(trail, domain.EventErasureStepFailed) {
		t.Errorf("trail %v", trail)
	}
}

// desk is a resolver that has only a name. The tests never call its other methods.
type desk struct{ ports.Resolver }

func (desk) Name() string { return "desk" }

func (desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}
