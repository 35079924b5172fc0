package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func enqueue(t testing.TB, store *memory.Store, entries ...domain.OutboxEntry) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Outbox().Enqueue(ctx, entries...) })
}

func query(n int, at, until time.Time) domain.ClaimQuery {
	query := domain.ClaimQuery{Now: at, LeaseUntil: until, LeaseToken: "lease"}
	for _, operation := range []domain.Operation{domain.OperationErase, domain.OperationRectify} {
		query.Takes = append(query.Takes, domain.Take{Resolver: "desk", Operation: operation, Fresh: n, Retries: n})
	}
	return query
}

func claim(t testing.TB, store *memory.Store) (claimed []domain.OutboxEntry) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) (err error) {
		claimed, err = s.Outbox().Claim(ctx, query(100, noon, noon.Add(time.Minute)))
		return err
	})
	return claimed
}

func settle(t testing.TB, store *memory.Store, settlements ...domain.Settlement) (results []domain.SettleResult) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) (err error) {
		results, err = s.Outbox().Settle(ctx, settlements)
		return err
	})
	return results
}

func TestEnqueuedIsCalledAfterTheCommit(t *testing.T) {
	calls := 0
	id := subject(t, "a", "1")
	var store *memory.Store
	store = newStore(t, memory.Options{Enqueued: func() {
		calls++
		do(t, store, func(ctx context.Context, s ports.Session) error { // the entry is committed, and the lock is free
			counts, err := s.OutboxAdmin().Counts(ctx)
			must(t, err)
			if counts[domain.OutboxPending] != 1 {
				t.Errorf("called with %v", counts)
			}
			_, err = s.Subjects().Lock(ctx, id, noon)
			return err
		})
	}})
	expect := func(want int, operation string, fn func(context.Context, ports.Session) error) {
		t.Helper()
		calls = 0
		_ = store.Do(t.Context(), fn)
		if calls != want {
			t.Errorf("%s: called %d times, want %d", operation, calls, want)
		}
	}
	expect(0, "a rollback", func(ctx context.Context, s ports.Session) error {
		must(t, s.Outbox().Enqueue(ctx, toErase("e", id)))
		return errBoom
	})
	expect(0, "enqueuing nothing", func(ctx context.Context, s ports.Session) error { return s.Outbox().Enqueue(ctx) })
	expect(1, "enqueuing", func(ctx context.Context, s ports.Session) error {
		return s.Outbox().Enqueue(ctx, toErase("e", id))
	})
	expect(0, "requeuing an entry that is not abandoned", func(ctx context.Context, s ports.Session) error {
		_, err := s.OutboxAdmin().Requeue(ctx, []string{"e"})
		return err
	})
	settle(t, store, domain.Settlement{Entry: claim(t, store)[0], Status: domain.OutboxAbandoned, LastError: "refused"})
	expect(1, "requeuing", func(ctx context.Context, s ports.Session) error {
		_, err := s.OutboxAdmin().Requeue(ctx, []string{"e"})
		return err
	})
}

// A resolver must receive the same types of values from this store as from a database.
func TestCorrectionsAreReturnedAsJSONValues(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	enqueue(t, store, toRectify("r", id, domain.Corrections{
		domain.CategoryContact: "text", domain.CategoryFinancial: int64(1<<53 + 1), domain.CategorySpecial: noon,
		domain.CategoryTechnical: domain.JSON(`{"list":[9007199254740993]}`), domain.CategoryLocation: domain.Number("1.50"),
		domain.CategoryIdentity: []byte("b"), domain.CategoryBehavioral: true,
	}))
	want := domain.Corrections{
		domain.CategoryContact: "text", domain.CategoryFinancial: json.Number("9007199254740993"),
		domain.CategorySpecial:   "2024-03-01T12:00:00Z",
		domain.CategoryTechnical: map[string]any{"list": []any{json.Number("9007199254740993")}},
		domain.CategoryLocation:  json.Number("1.50"),
		domain.CategoryIdentity:  "Yg==", domain.CategoryBehavioral: true,
	}
	if got := claim(t, store)[0].Corrections; !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
	err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		err := s.Outbox().Enqueue(ctx, toErase("e", id),
			toRectify("n", id, domain.Corrections{domain.CategoryContact: math.NaN()}))
		if err == nil {
			t.Error("a value that JSON cannot encode was accepted")
		}
		return nil
	})
	if err == nil {
		t.Error("the session was partially committed")
	}
}

// If the caller changes an argument or a result after a call, the data of the store must not change.
func TestAppendedAndReturnedRecordsAreCopies(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	purpose, reason := "p", "r"
	record := domain.RestrictionRecord{SubjectID: id, Purpose: &purpose, Reason: &reason, RecordedAt: noon}
	entry := toRectify("r", id, domain.Corrections{domain.CategoryTechnical: map[string]any{"k": []any{"v"}}})
	happened := event("e", id)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		must(t, s.Restrictions().Append(ctx, record))
		must(t, s.Audit().Append(ctx, happened))
		return s.Outbox().Enqueue(ctx, entry)
	})

	spoilEntry := func(e domain.OutboxEntry) {
		e.Ref.Extra["region"] = "changed"
		e.Corrections[domain.CategoryTechnical].(map[string]any)["k"].([]any)[0] = "changed"
		if e.LeaseToken != nil {
			*e.LeaseToken, *e.LastAttemptAt, *e.NextAttemptAt = "changed", time.Time{}, noon.Add(time.Hour)
		}
	}
	spoilRecord := func(r *domain.RestrictionRecord) { *r.Purpose, *r.Reason = "changed", "changed" }
	for range 2 { // the arguments, then the results
		spoilEntry(entry)
		spoilRecord(&record)
		happened.Payload["refs"] = "changed"

		happened = trail(t, store, id)[0]
		if happened.Payload["refs"] != int64(0) {
			t.Errorf("the event is %v", happened.Payload)
		}
		do(t, store, func(ctx context.Context, s ports.Session) error {
			of := "p"
			_, scoped, err := s.Restrictions().Latest(ctx, id, &of)
			must(t, err)
			if scoped == nil || *scoped.Reason != "r" {
				t.Fatalf("the record is %+v", scoped)
			}
			spoilRecord(scoped)
			history, err := s.Restrictions().History(ctx, id, &of)
			must(t, err)
			if len(history) != 1 {
				t.Fatalf("the history is %+v", history)
			}
			record = history[0]

			claimed, err := s.Outbox().Claim(ctx, query(1, noon, noon))
			must(t, err)
			want := domain.Corrections{domain.CategoryTechnical: map[string]any{"k": []any{"v"}}}
			if len(claimed) != 1 || claimed[0].Ref.Extra["region"] != "eu" || !reflect.DeepEqual(claimed[0].Corrections, want) {
				t.Fatalf("the entry is %+v", claimed)
			}
			entry = claimed[0]
			return nil
		})
	}
	spoilEntry(entry)
	entry.LeaseToken = new(string)
	*entry.LeaseToken = "lease"
	if got := settle(t, store, domain.Settlement{Entry: entry, Status: domain.OutboxSucceeded}); got[0].Stale {
		t.Error("the lease has changed")
	}
}

func TestInstantsOfAnEntryAreUTCWithMicroseconds(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	given := time.Date(2024, 3, 1, 17, 0, 0, 123456789, time.FixedZone("away", 5*3600))
	want := time.Date(2024, 3, 1, 12, 0, 0, 123456000, time.UTC)
	entry := toErase("e", id)
	entry.EnqueuedAt = given
	enqueue(t, store, entry)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		claimed, err := s.Outbox().Claim(ctx, query(1, given, given))
		must(t, err)
		if e := claimed[0]; e.EnqueuedAt != want || *e.LastAttemptAt != want || *e.NextAttemptAt != want {
			t.Errorf("claimed %+v", e)
		}
		next := given
		_, err = s.Outbox().Settle(ctx,
			[]domain.Settlement{{Entry: claimed[0], Status: domain.OutboxFailed, NextAttemptAt: &next}})
		next = time.Time{} // next belongs to the caller
		return err
	})
	if settled := store.Entries()[0]; *settled.NextAttemptAt != want {
		t.Errorf("settled %+v", settled)
	}
}

func TestAReleasedEntryHasNoError(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	enqueue(t, store, toErase("e", id))
	settle(t, store, domain.Settlement{Entry: claim(t, store)[0], Status: domain.OutboxFailed, LastError: "internal"})
	again := claim(t, store)[0]
	if again.LastError == nil || *again.LastError != "internal" {
		t.Errorf("after a failure: %+v", again)
	}
	settle(t, store, domain.Settlement{Entry: again, Status: domain.OutboxPending})
	if again = claim(t, store)[0]; again.LastError != nil || again.Attempts != 2 {
		t.Errorf("given back: %+v", again)
	}
}

func TestASucceededEntryHasNoPersonalData(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	enqueue(t, store, toErase("e", id), toRectify("r", id, domain.Corrections{domain.CategoryContact: "jane@example.org"}))
	for _, entry := range claim(t, store) {
		settle(t, store, domain.Settlement{Entry: entry, Status: domain.OutboxSucceeded})
	}
	for _, entry := range store.Entries() {
		if entry.Status != domain.OutboxSucceeded || entry.Corrections != nil || entry.Ref.Value != "" ||
			entry.Ref.Extra != nil {
			t.Errorf("left is %+v", entry)
		}
	}
}

func TestAnAbandonedRectificationLeavesNothingOpen(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	enqueue(t, store, toRectify("1", id, nil), toRectify("2", id, nil), toErase("3", id))
	e := claim(t, store)
	results := settle(t, store,
		domain.Settlement{Entry: e[1], Status: domain.OutboxSucceeded},
		domain.Settlement{Entry: e[0], Status: domain.OutboxAbandoned},
		domain.Settlement{Entry: e[2], Status: domain.OutboxSucceeded},
		domain.Settlement{Entry: e[2], Status: domain.OutboxSucceeded})
	want := []domain.SettleResult{{Completes: true}, {}, {Completes: true}, {Stale: true}}
	if !reflect.DeepEqual(results, want) {
		t.Errorf("got %+v", results)
	}
}

func TestADuplicateIDIsAConflict(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	enqueue(t, store, toErase("e", id))
	for _, entries := range [][]domain.OutboxEntry{{toErase("e", id)}, {toErase("f", id), toErase("f", id)}} {
		err := store.Do(t.Context(),
			func(ctx context.Context, s ports.Session) error { return s.Outbox().Enqueue(ctx, entries...) })
		if !errors.Is(err, domain.ErrConflict) {
			t.Errorf("got %v", err)
		}
	}
	if claimed := claim(t, store); len(claimed) != 1 {
		t.Errorf("%d entries", len(claimed))
	}
}
