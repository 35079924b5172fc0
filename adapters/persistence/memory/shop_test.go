package memory_test

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

var must = fixture.Must

func newStore(t testing.TB, opts memory.Options, tables ...datamap.Table) *memory.Store {
	t.Helper()
	dataMap := porttest.DataMap()
	if len(tables) > 0 {
		dataMap = fixture.MustMap(t, tables...)
	}
	store, err := memory.New(dataMap, opts)
	must(t, err)
	return store
}

// newShop returns a store with the tables of the shop in package porttest, and with two persons in the tenants a and b.
// Each person has the number 1.
func newShop(t testing.TB) *memory.Store {
	t.Helper()
	store := newStore(t, memory.Options{})
	for _, tenant := range []string{"a", "b"} {
		must(t, store.Insert("people", memory.Row{"tenant": tenant, "number": 1, "name": "Jane " + tenant}))
	}
	return store
}

func insert(t testing.TB, store *memory.Store, table string, rows ...memory.Row) {
	t.Helper()
	for _, row := range rows {
		must(t, store.Insert(table, row))
	}
}

func rows(t testing.TB, store *memory.Store, table string) []memory.Row {
	t.Helper()
	found, err := store.Rows(table)
	must(t, err)
	return found
}

var subject = fixture.MustID

// do runs a session that must succeed.
func do(t testing.TB, store *memory.Store, fn func(context.Context, ports.Session) error) {
	t.Helper()
	must(t, store.Do(context.Background(), fn))
}

// apply executes steps of an erasure in a new session.
func apply(store *memory.Store, id domain.SubjectID, steps ...datamap.Step) (counts []int64, err error) {
	err = store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		applied, err := s.Subjects().Apply(ctx, id, steps)
		counts = applied.Rows
		return err
	})
	return counts, err
}

// export returns all records of an export of the subject.
func export(t testing.TB, store *memory.Store, id domain.SubjectID) (records []domain.ExportRecord) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) error {
		return s.Subjects().Export(ctx, id, func(record domain.ExportRecord) error {
			records = append(records, record)
			return nil
		})
	})
	return records
}

func event(id string, of domain.SubjectID) domain.AuditEvent {
	return domain.AuditEvent{
		EventID: id, EventType: domain.EventErasureRequested, SubjectRef: of, OccurredAt: noon,
		Payload: domain.Payload{"refs": 0},
	}
}

func toErase(id string, of domain.SubjectID) domain.OutboxEntry {
	return domain.OutboxEntry{
		EntryID: id, SubjectID: of, Resolver: "desk", Operation: domain.OperationErase, Status: domain.OutboxPending,
		Ref: domain.SubjectRef{Kind: "desk", Value: "c-1", Extra: map[string]string{"region": "eu"}}, EnqueuedAt: noon,
	}
}
