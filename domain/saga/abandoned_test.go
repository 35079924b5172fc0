package saga_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

func TestAbandonmentIsReportedAfterTheCommit(t *testing.T) {
	committed, reported := false, []domain.OutboxEntry(nil)
	w := newWorld(t, func(c *saga.Config) {
		c.OnAbandoned = func(ctx context.Context, entry domain.OutboxEntry) {
			if !committed || ctx.Err() != nil {
				t.Errorf("reported with %v, committed is %v", ctx.Err(), committed)
			}
			reported = append(reported, entry)
		}
	}, desk(t, responds(false, refused)))
	w.expectSession()
	entry := claimed(t, domain.OperationErase, 3, 1)[0]
	entry.Corrections = domain.Corrections{domain.CategoryContact: "jane@example.org"} // must not reach the hook
	earlier := "timeout"
	entry.LastError = &earlier
	w.expectClaim(entry)
	w.settled()
	w.sessions.EXPECT().Do(anything, anything).DoAndReturn(func(ctx context.Context, fn session) error {
		defer func() { committed = true }()
		return w.do(ctx, fn)
	})
	w.mustSettle(t, 1)

	now := "refused"
	want := entry
	want.Status, want.LastError, want.NextAttemptAt, want.LeaseToken = domain.OutboxAbandoned, &now, nil, nil
	want.Corrections = nil
	if len(reported) != 1 || !reflect.DeepEqual(reported[0], want) {
		t.Errorf("reported %+v, want %+v", reported, want)
	}
	if earlier != "timeout" {
		t.Error("the entry as it was claimed has changed")
	}
}

func TestOnlyAbandonmentIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []string
		w := newWorld(t, func(c *saga.Config) {
			c.OnAbandoned = func(_ context.Context, entry domain.OutboxEntry) { reported = append(reported, entry.EntryID) }
		}, desk(t, func(_ context.Context, _ domain.SubjectRef, id string) (bool, error) {
			return false, map[string]error{"entry-0": nil, "entry-1": errBoom, "entry-2": refused}[id]
		}))
		w.expectSession().Times(2)
		entries := claimed(t, domain.OperationErase, 1, 4)
		entries[3].Resolver = "unknown"
		w.expectClaim(entries...)
		w.settled()
		w.mustSettle(t, 4)
		slices.Sort(reported)
		if !slices.Equal(reported, []string{"entry-2", "entry-3"}) {
			t.Errorf("reported %v", reported)
		}
	})
}

func TestEachFailureIsReportedWithItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := map[string]error{"entry-0": nil, "entry-1": errBoom, "entry-2": refused}
		w := newWorld(t, nil, desk(t, func(_ context.Context, _ domain.SubjectRef, id string) (bool, error) {
			return false, causes[id]
		}))
		reported := map[string]domain.OutboxStatus{}
		events := saga.Events{Failed: func(_ context.Context, entry domain.OutboxEntry, cause error) {
			reported[entry.EntryID] = entry.Status
			if !errors.Is(cause, causes[entry.EntryID]) {
				t.Errorf("%s: the cause is %v", entry.EntryID, cause)
			}
			panic("the report")
		}}
		w.expectSession().Times(2)
		w.expectClaim(claimed(t, domain.OperationErase, 1, 3)...)
		w.settled()
		if settled, err := w.RunWith(t.Context(), events); settled != 3 || err != nil {
			t.Errorf("settled %d, %v", settled, err)
		}
		want := map[string]domain.OutboxStatus{"entry-1": domain.OutboxFailed, "entry-2": domain.OutboxAbandoned}
		if !maps.Equal(reported, want) {
			t.Errorf("reported are %v, want %v", reported, want)
		}
	})
}

func TestAPanicOfTheHookChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []string
		w := newWorld(t, func(c *saga.Config) {
			c.OnAbandoned = func(_ context.Context, entry domain.OutboxEntry) {
				reported = append(reported, entry.EntryID)
				panic(errBoom)
			}
		}, desk(t, responds(false, refused)))
		w.expectSession().Times(2)
		w.expectClaim(claimed(t, domain.OperationErase, 1, 3)...)
		w.settled()
		w.mustSettle(t, 3)
		slices.Sort(reported)
		if !slices.Equal(reported, []string{"entry-0", "entry-1", "entry-2"}) {
			t.Errorf("reported %v: a panic prevented further reports", reported)
		}
	})
}

func TestRequeueRecordsEachEntryThatItRequeued(t *testing.T) {
	w := newWorld(t, nil)
	entries := claimed(t, domain.OperationErase, 0, 2)
	other := fixture.MustID(t, "tenant", "43")
	entries[1].SubjectID, entries[1].Resolver = other, "mail"
	w.admin.EXPECT().Requeue(anything, []string{"entry-0", "entry-1", "entry-2"}).Return(entries, nil)
	for i, entry := range entries {
		w.audit.EXPECT().Append(anything, domain.AuditEvent{
			EventID: []string{"id-1", "id-2"}[i], EventType: domain.EventErasureRequeued,
			SubjectRef: entry.SubjectID, OccurredAt: noon,
			Payload: domain.Payload{"target": entry.Resolver, "operation_id": "operation"},
		})
	}
	got, err := w.Requeue(t.Context(), w.session, "entry-0", "entry-1", "entry-2")
	if err != nil || !reflect.DeepEqual(got, entries) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestRequeueFailsWithItsSession(t *testing.T) {
	w := newWorld(t, nil)
	w.admin.EXPECT().Requeue(anything, anything).Return(nil, errBoom)
	w.admin.EXPECT().Requeue(anything, anything).Return(claimed(t, domain.OperationErase, 0, 2), nil)
	w.audit.EXPECT().Append(anything, anything).Return(errBoom)
	for range 2 {
		if got, err := w.Requeue(t.Context(), w.session, "entry-0"); got != nil || !errors.Is(err, errBoom) {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestRequeueOfNothingRecordsNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.admin.EXPECT().Requeue(anything, anything).Return(nil, nil)
	if got, err := w.Requeue(t.Context(), w.session, "entry-0"); len(got) != 0 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
