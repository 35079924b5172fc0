package verification_test

import (
	"errors"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/domain/verification"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/mocked"
	"github.com/habeas-data/habeas/ports/mocks"
)

var (
	errBoom = errors.New("boom")
	noon    = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	erased  = noon.Add(-time.Hour)
	planned = datamap.Plan{Steps: []datamap.Step{
		{Target: "orders", Strategy: domain.StrategyDelete},
		{Target: "invoices", Strategy: domain.StrategyRetain, Columns: []string{"total"}, Expired: []string{"total"}},
		{Target: "desk", Strategy: domain.StrategyDelete, External: true},
	}}
)

func shop(tb testing.TB) datamap.DataMap {
	tb.Helper()
	orders, invoices := fixture.Child("orders", "users"), fixture.Child("invoices", "users")
	total := fixture.Contact("total", domain.StrategyRetain)
	total.Personal.Reason, total.Personal.Since, total.Personal.Retain = "law", "issued_at", datamap.Period{Years: 1}
	invoices.Columns = append(invoices.Columns, total, fixture.Column("issued_at", datamap.TypeTime))
	return fixture.MustMap(tb, fixture.Users(), orders, invoices)
}

// world is a verifier with mocks of its dependencies. An unexpected call fails the test.
type world struct {
	*verification.Verifier
	mocked.Bundle
}

func newWorld(t *testing.T) world {
	t.Helper()
	ctrl, b := gomock.NewController(t), mocked.New(t, noon)
	ids := mocks.NewMockIDSource(ctrl)
	ids.EXPECT().NewID().Return("id").AnyTimes()
	verifier, err := verification.NewVerifier(verification.Config{
		Sessions: mocks.NewMockSessionFactory(ctrl), Clock: b.Clock, IDs: ids, DataMap: shop(t), Plan: planned,
	})
	if err != nil {
		t.Fatal(err)
	}
	return world{verifier, b}
}

// marked expects a query for the last erasure of the subject. The query returns an erasure at the given time. If this
// time is zero, the query finds no erasure.
func (w world) marked(at time.Time, err error) {
	var found []domain.ErasureMark
	if !at.IsZero() {
		found = []domain.ErasureMark{{SubjectID: w.ID, ErasedAt: at}}
	}
	w.Erased.EXPECT().Find(gomock.Any(), []domain.SubjectID{w.ID}).Return(found, err)
}

func (w world) finds(found domain.Leftovers, err error) {
	w.marked(erased, nil)
	w.lives(domain.LifeEnded, nil)
	w.Erased.EXPECT().LeftOver(gomock.Any(), w.ID, plan.LocalAt(planned, erased), erased).Return(found, err)
}

// lives expects a query for the state of the subject.
func (w world) lives(life domain.Life, err error) {
	state := domain.SubjectState{Present: true, Life: life}
	w.Subjects.EXPECT().State(gomock.Any(), w.ID).Return(state, err)
}

func (w world) event(eventType domain.EventType, payload domain.Payload) domain.AuditEvent {
	return domain.AuditEvent{EventID: "id", EventType: eventType, SubjectRef: w.ID, OccurredAt: noon, Payload: payload}
}

// trail returns the events of two completed erasures and of a later erasure that failed.
func (w world) trail() []domain.AuditEvent {
	return []domain.AuditEvent{
		w.event(domain.EventErasureLocalCompleted, domain.Payload{"operation_id": "first"}),
		w.event(domain.EventErasureLocalCompleted, domain.Payload{"operation_id": "last"}),
		w.event(domain.EventErasureRequested, domain.Payload{"operation_id": "failed"}),
		w.event(domain.EventErasureStepFailed, domain.Payload{"operation_id": "failed"}),
	}
}

func TestAnErasureThatLeftNothingIsVerified(t *testing.T) {
	w := newWorld(t)
	w.finds(domain.Leftovers{}, nil)
	w.Audit.EXPECT().Trail(gomock.Any(), w.ID).Return(w.trail(), nil)
	w.Audit.EXPECT().Append(gomock.Any(), w.event("erasure_verified", domain.Payload{
		"local_steps": 2, "operation_id": "last",
	}))
	got, err := w.Verify(t.Context(), w.Session, w.ID)
	want := domain.Verification{SubjectID: w.ID, ErasedAt: erased, VerifiedAt: noon, LeftOver: domain.Leftovers{}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// The rows may belong to a new person with the same id. No mock expects a search or an event.
func TestAnErasureOfALifeThatHasNotEndedIsNotChecked(t *testing.T) {
	for _, life := range []domain.Life{domain.LifeNew, domain.LifeUnknown} {
		w := newWorld(t)
		w.marked(erased, nil)
		w.lives(life, nil)
		w.Audit.EXPECT().Trail(gomock.Any(), w.ID).Return(w.trail(), nil)
		got, err := w.Clear(t.Context(), w.Session, w.ID)
		if err != nil || got.Life != life || len(got.LeftOver) > 0 || got.Cleared {
			t.Errorf("%s: got %+v, %v", life, got, err)
		}
	}
	w := newWorld(t)
	w.marked(erased, nil)
	w.lives("", errBoom)
	if _, err := w.Verify(t.Context(), w.Session, w.ID); !errors.Is(err, errBoom) {
		t.Errorf("got %v", err)
	}
}

func (w world) foundBefore(table, column string, rows int64, more domain.Payload) domain.AuditEvent {
	payload := domain.Payload{"target": table, "rows": rows}
	if column != "" {
		payload["column"] = column
	}
	maps.Copy(payload, more)
	return w.event(domain.EventErasureLeftOver, payload)
}

func TestLeftOversOfALifeBeforeAreShownAndCleared(t *testing.T) {
	w := newWorld(t)
	cleared := domain.Payload{"cleared": true}
	trail := append(w.trail(), w.foundBefore("letters", "", 9, nil), w.foundBefore("letters", "", 9, cleared),
		w.foundBefore("orders", "", 3, nil), w.foundBefore("invoices", "total", 2, nil), w.foundBefore("orders", "", 1, nil))
	w.Audit.EXPECT().Trail(gomock.Any(), w.ID).Return(trail, nil).AnyTimes()
	want := domain.Leftovers{{Table: "invoices", Column: "total", Rows: 2}, {Table: "orders", Rows: 1}}
	for range 2 {
		w.marked(erased, nil)
		w.lives(domain.LifeNew, nil)
	}
	shown, err := w.Verify(t.Context(), w.Session, w.ID)
	if err != nil || !reflect.DeepEqual(shown.LeftOver, want) || shown.Life != domain.LifeNew || shown.Cleared {
		t.Errorf("got %+v, %v", shown, err)
	}
	w.Duties.EXPECT().AddLeftOver(gomock.Any(), domain.DutyVerification, int64(-1)).Return(nil)
	last := domain.Payload{"cleared": true, "operation_id": "last"}
	w.Audit.EXPECT().Append(gomock.Any(), w.foundBefore("invoices", "total", 2, last), w.foundBefore("orders", "", 1,
		last))
	got, err := w.Clear(t.Context(), w.Session, w.ID)
	if err != nil || !reflect.DeepEqual(got.LeftOver, want) || !got.Cleared {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestLeftOversAreRecordedByTableAndColumn(t *testing.T) {
	w := newWorld(t)
	found := domain.Leftovers{{Table: "orders", Rows: 3}, {Table: "invoices", Column: "total", Rows: 2}}
	w.finds(found, nil)
	w.Audit.EXPECT().Trail(gomock.Any(), w.ID).Return(nil, nil).Times(2) // no longer has the events of the erasure
	w.Duties.EXPECT().AddLeftOver(gomock.Any(), domain.DutyVerification, int64(1)).Return(nil)
	w.Audit.EXPECT().Append(gomock.Any(),
		w.event("erasure_left_over", domain.Payload{"target": "orders", "rows": int64(3)}),
		w.event("erasure_left_over", domain.Payload{"target": "invoices", "column": "total", "rows": int64(2)}))
	got, err := w.Verify(t.Context(), w.Session, w.ID)
	if err != nil || !reflect.DeepEqual(got.LeftOver, found) || got.VerifiedAt != noon {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestASubjectThatWasNeverErasedIsAConflict(t *testing.T) {
	w := newWorld(t)
	w.marked(time.Time{}, nil)
	if _, err := w.Verify(t.Context(), w.Session, w.ID); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("got %v, want %v", err, domain.ErrConflict)
	}
}

func TestAVerificationThatFailsLeavesNoEvent(t *testing.T) {
	for name, expect := range map[string]func(world){
		"the mark": func(w world) { w.marked(time.Time{}, errBoom) },
		"the rows": func(w world) { w.finds(nil, errBoom) },
		"the trail": func(w world) {
			w.finds(nil, nil)
			w.Audit.EXPECT().Trail(gomock.Any(), w.ID).Return(nil, errBoom)
		},
		"the event": func(w world) {
			w.finds(nil, nil)
			w.Audit.EXPECT().Trail(gomock.Any(), w.ID)
			w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).Return(errBoom)
		},
	} {
		w := newWorld(t)
		expect(w)
		got, err := w.Verify(t.Context(), w.Session, w.ID)
		if !errors.Is(err, errBoom) || !reflect.DeepEqual(got, domain.Verification{}) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestAnIDThatDoesNotFitIsASubjectError(t *testing.T) {
	w := newWorld(t)
	id := fixture.MustID(t, "forty-two")
	if _, err := w.Verify(t.Context(), w.Session, id); !errors.Is(err, domain.ErrSubject) {
		t.Errorf("got %v, want %v", err, domain.ErrSubject)
	}
}

func TestAVerifierNeedsAPlanForItsDataMap(t *testing.T) {
	if _, err := verification.NewVerifier(verification.Config{}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v, want %v", err, domain.ErrConfiguration)
	}
	ctrl := gomock.NewController(t)
	_, err := verification.NewVerifier(verification.Config{
		Sessions: mocks.NewMockSessionFactory(ctrl), Clock: mocks.NewMockClock(ctrl), IDs: mocks.NewMockIDSource(ctrl),
		DataMap: fixture.MustMap(t, fixture.Users()), Plan: planned,
	})
	if !errors.Is(err, domain.ErrManifest) {
		t.Errorf("got %v, want %v", err, domain.ErrManifest)
	}
}
