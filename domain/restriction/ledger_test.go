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
	"github.com/habeas-data/habeas/internal/tests/mocked"
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
	mocked.Bundle
}

func newWorld(t *testing.T) world {
	t.Helper()
	b := mocked.New(t, clockTime)
	return world{restriction.NewLedger(b.Clock, b.IDs), b}
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
				SubjectID: w.ID, Purpose: c.decision.Purpose, Restricted: c.decision.Restricted, Reason: c.decision.Reason,
				RecordedAt: noon, Source: c.decision.Source,
			}
			event := domain.AuditEvent{
				EventID: "id-1", EventType: c.eventType, SubjectRef: w.ID, OccurredAt: noon, Payload: c.payload,
			}
			gomock.InOrder(w.Restrictions.EXPECT().Append(ctx, record), w.Audit.EXPECT().Append(ctx, event))
			got, err := w.Record(ctx, w.Session, w.ID, c.decision)
			if err != nil || !reflect.DeepEqual(got, record) {
				t.Errorf("got %+v, %v, want %+v", got, err, record)
			}
		})
	}
}

func TestTheReasonNeverReachesTheAuditTrail(t *testing.T) {
	w := newWorld(t)
	w.Restrictions.EXPECT().Append(ctx, gomock.Any())
	w.Audit.EXPECT().Append(ctx, gomock.Any()).Do(func(_ context.Context, events ...domain.AuditEvent) {
		if text := fmt.Sprintf("%+v", events); strings.Contains(text, reason) {
			t.Errorf("the event holds the reason: %s", text)
		}
	})
	decision := domain.RestrictionDecision{Purpose: &purpose, Restricted: true, Reason: &reason, Source: "api"}
	if _, err := w.Record(ctx, w.Session, w.ID, decision); err != nil {
		t.Error(err)
	}
}

func TestADecisionThatCannotBeStoredIsAnError(t *testing.T) {
	decision := domain.RestrictionDecision{Restricted: true, Source: "api"}

	w := newWorld(t)
	w.Restrictions.EXPECT().Append(ctx, gomock.Any()).Return(errBoom) // no event follows
	got, err := w.Record(ctx, w.Session, w.ID, decision)
	if !errors.Is(err, errBoom) || !reflect.DeepEqual(got, domain.RestrictionRecord{}) {
		t.Errorf("got %+v, %v", got, err)
	}

	w = newWorld(t)
	w.Restrictions.EXPECT().Append(ctx, gomock.Any())
	w.Audit.EXPECT().Append(ctx, gomock.Any()).Return(errBoom)
	got, err = w.Record(ctx, w.Session, w.ID, decision)
	if !errors.Is(err, errBoom) || !reflect.DeepEqual(got, domain.RestrictionRecord{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAnInvalidCallLeavesNoTrace(t *testing.T) {
	w := newWorld(t) // expects no call of a store
	id, noID, empty := w.ID, domain.SubjectID{}, ""
	for name, c := range map[string]struct {
		call func() error
		want domain.Code
	}{
		"record a bad decision": {func() error {
			_, err := w.Record(ctx, w.Session, id, domain.RestrictionDecision{Purpose: &empty, Source: "api"})
			return err
		}, domain.ErrInvalid},
		"record without an id": {func() error {
			_, err := w.Record(ctx, w.Session, noID, domain.RestrictionDecision{Source: "api"})
			return err
		}, domain.ErrSubject},
		"status of an empty purpose": {func() error {
			_, err := w.Status(ctx, w.Session, id, &empty)
			return err
		}, domain.ErrInvalid},
		"status without an id": {func() error {
			_, err := w.Status(ctx, w.Session, noID, nil)
			return err
		}, domain.ErrSubject},
		"history of an empty purpose": {func() error {
			_, err := w.History(ctx, w.Session, id, &empty)
			return err
		}, domain.ErrInvalid},
		"history without an id": {func() error {
			_, err := w.History(ctx, w.Session, noID, nil)
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
			w.Restrictions.EXPECT().Latest(ctx, w.ID, c.purpose).Return(c.global, c.scoped, nil)
			got, err := w.Status(ctx, w.Session, w.ID, c.purpose)
			want := domain.RestrictionStatusOf(w.ID, c.purpose, c.global, c.scoped)
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
		w.Restrictions.EXPECT().History(ctx, w.ID, asked).Return(records, nil)
		got, err := w.History(ctx, w.Session, w.ID, asked)
		if err != nil || !reflect.DeepEqual(got, records) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestAReadThatFailsIsAnError(t *testing.T) {
	w := newWorld(t)
	w.Restrictions.EXPECT().Latest(ctx, w.ID, nil).Return(nil, nil, errBoom)
	w.Restrictions.EXPECT().History(ctx, w.ID, nil).Return(nil, errBoom)
	_, statusErr := w.Status(ctx, w.Session, w.ID, nil)
	_, historyErr := w.History(ctx, w.Session, w.ID, nil)
	for _, err := range []error{statusErr, historyErr} {
		if !errors.Is(err, errBoom) {
			t.Errorf("got %v", err)
		}
	}
}
