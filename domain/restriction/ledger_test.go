package restriction_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports/mocks"
)

var (
	ctx     = context.Background()
	errBoom = errors.New("boom")
	purpose = "ads"
	reason  = "the address is wrong"

	// clockTime is the time that the clock returns. noon is the same instant as the ledger stores it: in UTC, with
	// microseconds.
	clockTime = time.Date(2024, 3, 1, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))
	noon      = time.Date(2024, 3, 1, 12, 0, 0, 123456000, time.UTC)
)

// world is a ledger with mocks of its stores. An unexpected call fails the test.
type world struct {
	*restriction.Ledger
	session *mocks.MockSession
	store   *mocks.MockRestrictionStore
	audit   *mocks.MockAuditLog
	id      domain.SubjectID
}

func newWorld(t *testing.T) world {
	t.Helper()
	ctrl := gomock.NewController(t)
	w := world{
		Ledger:  restriction.NewLedger(fixture.NewClock(clockTime), &fixture.IDs{}),
		session: mocks.NewMockSession(ctrl), store: mocks.NewMockRestrictionStore(ctrl), audit: mocks.NewMockAuditLog(ctrl),
		id: fixture.MustID(t, "42"),
	}
	w.session.EXPECT().Restrictions().Return(w.store).AnyTimes()
	w.session.EXPECT().Audit().Return(w.audit).AnyTimes()
	return w
}

func TestADecisionIsRecordedWithItsEvent(t *testing.T) {
	for name, c := range map[string]struct {
		decision  domain.RestrictionDecision
		eventType domain.EventType
		payload   domain.Payload
	}{
		"all processing restricted": {
			domain.RestrictionDecision{Restricted: true, Reason: &reason, Source: "api"},
			"restriction_placed",
			domain.Payload{"scope": "all", "source": "api"},
		},
		"a purpose restricted": {
			domain.RestrictionDecision{Purpose: &purpose, Restricted: true, Reason: &reason, Source: "api"},
			"restriction_placed",
			domain.Payload{"scope": "purpose", "source": "api"},
		},
		"all processing free again": {
			domain.RestrictionDecision{Source: "desk"},
			"restriction_lifted",
			domain.Payload{"scope": "all", "source": "desk"},
		},
		"a purpose free again": {
			domain.RestrictionDecision{Purpose: &purpose, Source: "desk"},
			"restriction_lifted",
			domain.Payload{"scope": "purpose", "source": "desk"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			record := domain.RestrictionRecord{
				SubjectID: w.id, Purpose: c.decision.Purpose, Restricted: c.decision.Restricted, Reason: c.decision.Reason,
				RecordedAt: noon, Source: c.decision.Source,
			}
			event := domain.AuditEvent{
				EventID: "id-1", EventType: c.eventType, SubjectRef: w.id, OccurredAt: noon, Payload: c.payload,
			}
			gomock.InOrder(w.store.EXPECT().Append(ctx, record), w.audit.EXPECT().Append(ctx, event))
			got, err := w.Record(ctx, w.session, w.id, c.decision)
			if err != nil || !reflect.DeepEqual(got, record) {
				t.Errorf("got %+v, %v, want %+v", got, err, record)
			}
		})
	}
}

func TestTheReasonNeverReachesTheAuditTrail(t *testing.T) {
	w := newWorld(t)
	w.store.EXPECT().Append(ctx, gomock.Any())
	w.audit.EXPECT().Append(ctx, gomock.Any()).Do(func(_ context.Context, events ...domain.AuditEvent) {
		if text := fmt.Sprintf("%+v", events); strings.Contains(text, reason) {
			t.Errorf("the event holds the reason: %s", text)
		}
	})
	decision := domain.RestrictionDecision{Purpose: &purpose, Restricted: true, Reason: &reason, Source: "api"}
	if _, err := w.Record(ctx, w.session, w.id, decision); err != nil {
		t.Error(err)
	}
}

func TestADecisionThatCannotBeStoredIsAnError(t *testing.T) {
	decision := domain.RestrictionDecision{Restricted: true, Source: "api"}

	w := newWorld(t)
	w.store.EXPECT().Append(ctx, gomock.Any()).Return(errBoom) // no event follows
	got, err := w.Record(ctx, w.session, w.id, decision)
	if !errors.Is(err, errBoom) || !reflect.DeepEqual(got, domain.RestrictionRecord{}) {
		t.Errorf("got %+v, %v", got, err)
	}

	w = newWorld(t)
	w.store.EXPECT().Append(ctx, gomock.Any())
	w.audit.EXPECT().Append(ctx, gomock.Any()).Return(errBoom)
	got, err = w.Record(ctx, w.session, w.id, decision)
	if !errors.Is(err, errBoom) || !reflect.DeepEqual(got, domain.RestrictionRecord{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAnInvalidCallLeavesNoTrace(t *testing.T) {
	w := newWorld(t) // expects no call of a store
	id, noID, empty := w.id, domain.SubjectID{}, ""
	for name, c := range map[string]struct {
		call func() error
		want domain.Code
	}{
		"record a bad decision": {func() error {
			_, err := w.Record(ctx, w.session, id, domain.RestrictionDecision{Purpose: &empty, Source: "api"})
			return err
		}, domain.ErrInvalid},
		"record without an id": {func() error {
			_, err := w.Record(ctx, w.session, noID, domain.RestrictionDecision{Source: "api"})
			return err
		}, domain.ErrSubject},
		"status of an empty purpose": {func() error {
			_, err := w.Status(ctx, w.session, id, &empty)
			return err
		}, domain.ErrInvalid},
		"status without an id": {func() error {
			_, err := w.Status(ctx, w.session, noID, nil)
			return err
		}, domain.ErrSubject},
		"history of an empty purpose": {func() error {
			_, err := w.History(ctx, w.session, id, &empty)
			return err
		}, domain.ErrInvalid},
		"history without an id": {func() error {
			_, err := w.History(ctx, w.session, noID, nil)
			return err
		}, domain.ErrSubject},
	} {
		if err := c.call(); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestTheStatusDerivesFromBothRecordsInForce(t *testing.T) {
	global := domain.RestrictionRecord{Restricted: true, RecordedAt: noon}
	scoped := domain.RestrictionRecord{Purpose: &purpose, RecordedAt: noon.Add(time.Hour)}
	for name, c := range map[string]struct {
		purpose        *string
		global, scoped *domain.RestrictionRecord
	}{
		"nothing":          {nil, nil, nil},
		"only global ones": {nil, &global, nil},
		"a purpose":        {&purpose, nil, &scoped},
		"both":             {&purpose, &global, &scoped},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.store.EXPECT().Latest(ctx, w.id, c.purpose).Return(c.global, c.scoped, nil)
			got, err := w.Status(ctx, w.session, w.id, c.purpose)
			want := domain.RestrictionStatusOf(w.id, c.purpose, c.global, c.scoped)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestTheHistoryComesFromTheStore(t *testing.T) {
	for _, asked := range []*string{nil, &purpose} {
		w := newWorld(t)
		records := []domain.RestrictionRecord{{Purpose: asked, Restricted: true}, {Purpose: asked}}
		w.store.EXPECT().History(ctx, w.id, asked).Return(records, nil)
		got, err := w.History(ctx, w.session, w.id, asked)
		if err != nil || !reflect.DeepEqual(got, records) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestAReadThatFailsIsAnError(t *testing.T) {
	w := newWorld(t)
	w.store.EXPECT().Latest(ctx, w.id, nil).Return(nil, nil, errBoom)
	w.store.EXPECT().History(ctx, w.id, nil).Return(nil, errBoom)
	_, statusErr := w.Status(ctx, w.session, w.id, nil)
	_, historyErr := w.History(ctx, w.session, w.id, nil)
	for _, err := range []error{statusErr, historyErr} {
		if !errors.Is(err, errBoom) {
			t.Errorf("got %v", err)
		}
	}
}
