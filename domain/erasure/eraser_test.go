package erasure_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/mocked"
	"github.com/habeas-data/habeas/ports/mocks"
)

func TestAnErasureLocksRecordsActsEnqueuesAndCompletes(t *testing.T) {
	desk := domain.SubjectRef{Kind: "desk", Value: "d-1", Extra: map[string]string{"region": "eu"}}
	w := newWorld(t, []string{"mail", "ads", "desk"}, desk, ref("mail", "m-1"))
	w.allowStores()
	entry := func(id, resolver string, ref domain.SubjectRef) domain.OutboxEntry {
		return domain.OutboxEntry{
			EntryID: id, SubjectID: w.ID, Resolver: resolver, Ref: ref,
			Operation: "erase", OperationID: "id-1", Status: "pending", EnqueuedAt: noon, RequestedAt: noon,
		}
	}
	gomock.InOrder(
		w.locks(),
		w.requested("id-1", 2, 2),
		w.applies(3, 1, 1), w.succeeded(3, 1, 1),
		w.Outbox.EXPECT().Enqueue(gomock.Any(), entry("id-5", "mail", ref("mail", "m-1")), entry("id-6", "desk", desk)),
		w.completed("id-7", 3, 1, 1, 2, "ads"),
	)
	result, err := w.Erase(t.Context(), w.Session, w.Subject)
	want := domain.ErasureResult{
		SubjectID: w.ID, CompletedAt: noon,
		Deleted: map[string]int64{"sessions": 3}, Anonymized: map[string]int64{"users": 1},
		Retained: map[string]int64{"users": 1}, EnqueuedExternal: []string{"mail", "desk"},
		RetainedFields: []domain.RetainedField{{
			Source: "users", Field: "vat", Category: domain.CategoryContact, Reason: "§147 AO",
		}},
		Remedies: domain.Remedies{Judicial: true},
	}
	if err != nil || !reflect.DeepEqual(result, want) {
		t.Errorf("got %+v, %v, want %+v", result, err, want)
	}
}

// A repeated erasure tells the systems the instant of the first one, because a ref may be a new person's since.
func TestARepeatedErasureIsRequestedAtItsFirstInstant(t *testing.T) {
	w := newWorld(t, []string{"mail"}, ref("mail", "m-1"))
	w.allowStores()
	first := noon.Add(-30 * 24 * time.Hour)
	gomock.InOrder(
		w.locks(),
		w.requested("id-1", 1, 1),
		w.applies(3, 1, 1), w.succeeded(3, 1, 1),
		w.Outbox.EXPECT().Enqueue(gomock.Any(), domain.OutboxEntry{
			EntryID: "id-5", SubjectID: w.ID, Resolver: "mail", Ref: ref("mail", "m-1"),
			Operation: "erase", OperationID: "id-1", Status: "pending", EnqueuedAt: noon, RequestedAt: first,
		}),
		w.completed("id-6", 3, 1, 1, 1, ""),
	)
	if _, err := w.Repeat(t.Context(), w.Session, w.Subject, first); err != nil {
		t.Error(err)
	}
}

// Corrections are withdrawn even if this process has no resolver that rectifies, because another process may have one.
func TestCorrectionsAreWithdrawnAfterTheLocalSteps(t *testing.T) {
	for skipped, systems := range map[string][]string{"registry": {"registry!"}, "desk": {"desk"}, "": nil} {
		w := newWorld(t, systems)
		w.Consents.EXPECT().InForce(gomock.Any(), w.ID)
		w.Restrictions.EXPECT().ClearReasons(gomock.Any(), w.ID)
		withdrawn := w.Event("id-5", "rectification_step_failed", domain.Payload{
			"target": "registry", "external": true, "abandoned": true, "error": "erased", "attempts": 2,
		})
		withdrawn.Payload["operation_id"] = "of the rectification"
		gomock.InOrder(
			w.locks(),
			w.requested("id-1", 0, 0),
			w.applies(0, 0, 0), w.succeeded(0, 0, 0),
			w.Outbox.EXPECT().Withdraw(gomock.Any(), w.ID).
				Return([]domain.OutboxEntry{{Resolver: "registry", Attempts: 2, OperationID: "of the rectification"}}, nil),
			w.Audit.EXPECT().Append(gomock.Any(), withdrawn),
			w.completed("id-6", 0, 0, 0, 0, skipped),
			w.Audit.EXPECT().AppendOnRollback(gomock.Any(),
				w.Event("id-8", "erasure_step_failed", domain.Payload{"error": "rolled_back"})),
		)
		if _, err := w.Erase(t.Context(), w.Session, w.Subject); err != nil {
			t.Error(err)
		}
	}
}

func TestWithoutARefNothingIsEnqueued(t *testing.T) {
	w := newWorld(t, []string{"mail", "desk"})
	w.allowStores() // without entries for the outbox
	gomock.InOrder(
		w.locks(),
		w.requested("id-1", 0, 0),
		w.applies(0, 0, 0), w.succeeded(0, 0, 0),
		w.completed("id-5", 0, 0, 0, 0, "mail,desk"),
	)
	result, err := w.Erase(t.Context(), w.Session, w.Subject)
	if err != nil || result.EnqueuedExternal == nil || len(result.EnqueuedExternal) > 0 {
		t.Errorf("got %+v, %v, want an empty list, which is [] in JSON", result, err)
	}
	if n, ok := result.Deleted["sessions"]; !ok || n != 0 {
		t.Errorf("a step without rows is not in the result: %v", result.Deleted)
	}
}

func TestASystemWithTwoRefsIsEnqueuedTwice(t *testing.T) {
	w := newWorld(t, []string{"desk"}, ref("desk", "old"), ref("desk", "new"))
	w.allowStores()
	w.locks()
	w.requested("id-1", 2, 2)
	w.applies(0, 0, 0)
	w.succeeded(0, 0, 0)
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any())
	w.Outbox.EXPECT().Enqueue(gomock.Any(), gomock.Any(), gomock.Any()).
		Do(func(_ context.Context, entries ...domain.OutboxEntry) {
			if entries[0].Ref.Value != "old" || entries[1].Ref.Value != "new" || entries[0].EntryID == entries[1].EntryID {
				t.Errorf("got %+v", entries)
			}
		})
	result, err := w.Erase(t.Context(), w.Session, w.Subject)
	if err != nil || !reflect.DeepEqual(result.EnqueuedExternal, []string{"desk", "desk"}) {
		t.Errorf("got %v, %v", result.EnqueuedExternal, err)
	}
}

// The time of the event erasure_requested is read after the lock. Otherwise the events of two concurrent erasures would
// interleave.
func TestTheRequestIsStampedUnderTheLock(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	w.locks().Do(func(context.Context, domain.SubjectID, time.Time) { w.Clock.Advance(time.Minute) }) // after a wait
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).Do(func(_ context.Context, events ...domain.AuditEvent) {
		if got := events[0].OccurredAt; !got.Equal(noon.Add(time.Minute)) {
			t.Errorf("stamped %v, before the lock was there", got)
		}
	})
	w.applies(0, 0, 0)
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any(), gomock.Any(), gomock.Any()) // a minute later
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any())
	if _, err := w.Erase(t.Context(), w.Session, w.Subject); err != nil {
		t.Error(err)
	}
}

func TestInstantsOfAnErasureAreUTCInMicroseconds(t *testing.T) {
	w := newWorld(t, []string{"desk"}, ref("desk", "d-1"))
	w.allowStores()
	w.Clock.Set(noon.Add(999).In(time.FixedZone("CET", 3600)))
	w.locks() // at noon in UTC
	w.requested("id-1", 1, 1)
	w.applies(0, 0, 0)
	w.succeeded(0, 0, 0)
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any())
	w.Outbox.EXPECT().Enqueue(gomock.Any(), gomock.Any()).Do(func(_ context.Context, entries ...domain.OutboxEntry) {
		if entries[0].EnqueuedAt != noon {
			t.Errorf("enqueued at %v", entries[0].EnqueuedAt)
		}
	})
	if result, err := w.Erase(t.Context(), w.Session, w.Subject); err != nil || result.CompletedAt != noon {
		t.Errorf("got %v, %v", result.CompletedAt, err)
	}
}

func TestARefusedSubjectLeavesNoCallAtAll(t *testing.T) {
	w := newWorld(t, []string{"desk"}) // no store of the session may be used
	long := fixture.MustID(t, "tenant", "42")
	for name, subject := range map[string]domain.Subject{
		"no id":                    {},
		"an id of another arity":   {ID: long},
		"a ref of an unknown kind": {ID: w.ID, Refs: []domain.SubjectRef{ref("desk", "d-1"), ref("mail", "m-1")}},
		"a ref that is not whole":  {ID: w.ID, Refs: []domain.SubjectRef{ref("desk", "")}},
	} {
		result, err := w.Erase(t.Context(), w.Session, subject)
		if !errors.Is(err, domain.ErrSubject) || !reflect.DeepEqual(result, domain.ErasureResult{}) {
			t.Errorf("%s: got %+v, %v", name, result, err)
		}
	}
}

func TestAnEraserShowsItsPlan(t *testing.T) {
	w := newWorld(t, []string{"mail", "desk"})
	want := []datamap.Step{
		deleteSessions, anonymizeUsers, retainUsers,
		{Target: "mail", Strategy: del, External: true},
		{Target: "desk", Strategy: del, External: true},
	}
	if got := w.Plan().Steps; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", printed(got), printed(want))
	}
}

func TestAMapThatCannotBePlannedHasNoEraser(t *testing.T) {
	dataMap := fixture.MustMap(t, users(personal("email", del)), child("orders", "users", personal("vat", keep)))
	ctrl := gomock.NewController(t)
	eraser, err := erasure.NewEraser(erasure.Config{
		Clock: mocks.NewMockClock(ctrl), IDs: mocks.NewMockIDSource(ctrl), DataMap: dataMap, Resolvers: mocked.Resolvers(t),
	})
	if !errors.Is(err, domain.ErrRetention) || eraser != nil {
		t.Errorf("got %v, %v", eraser, err)
	}
}

func TestAnEraserWithoutItsDependenciesIsRefused(t *testing.T) {
	_, err := erasure.NewEraser(erasure.Config{})
	if !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}
