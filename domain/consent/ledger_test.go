package consent_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/internal/tests/mocked"
)

var (
	ctx     = context.Background()
	errBoom = errors.New("boom")

	// clockTime is the time that the clock returns. noon is the same instant as the ledger stores it: in UTC, with
	// microseconds.
	clockTime = time.Date(2024, 3, 1, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))
	noon      = time.Date(2024, 3, 1, 12, 0, 0, 123456000, time.UTC)
)

// world is a ledger with mocks of its stores. An unexpected call fails the test.
type world struct {
	*consent.Ledger
	mocked.Bundle
}

func newWorld(t *testing.T) world {
	t.Helper()
	b := mocked.New(t, clockTime)
	return world{consent.NewLedger(b.Clock, b.IDs), b}
}

func TestADecisionIsRecordedWithItsEvent(t *testing.T) {
	for granted, eventType := range map[bool]domain.EventType{
		true:  "consent_granted",
		false: "consent_withdrawn",
	} {
		w := newWorld(t)
		record := domain.ConsentRecord{
			SubjectID: w.ID, Purpose: "newsletter", PolicyVersion: "v1", Granted: granted, RecordedAt: noon, Source: "api",
		}
		event := domain.AuditEvent{
			EventID: "id-1", EventType: eventType, SubjectRef: w.ID, OccurredAt: noon,
			Payload: domain.Payload{"source": "api"},
		}
		gomock.InOrder(w.Consents.EXPECT().Append(ctx, record), w.Audit.EXPECT().Append(ctx, event))

		got, err := w.Record(ctx, w.Session, w.ID, domain.ConsentDecision{
			Purpose: "newsletter", PolicyVersion: "v1", Granted: granted, Source: "api",
		})
		if err != nil || got != record {
			t.Errorf("got %+v, %v, want %+v", got, err, record)
		}
	}
}

func TestADecisionThatCannotBeStoredIsAnError(t *testing.T) {
	decision := domain.ConsentDecision{Purpose: "newsletter", PolicyVersion: "v1", Source: "api"}

	w := newWorld(t)
	w.Consents.EXPECT().Append(ctx, gomock.Any()).Return(errBoom) // no event follows
	if got, err := w.Record(ctx, w.Session, w.ID, decision); !errors.Is(err, errBoom) || got != (domain.ConsentRecord{}) {
		t.Errorf("got %+v, %v", got, err)
	}

	w = newWorld(t)
	w.Consents.EXPECT().Append(ctx, gomock.Any())
	w.Audit.EXPECT().Append(ctx, gomock.Any()).Return(errBoom)
	if got, err := w.Record(ctx, w.Session, w.ID, decision); !errors.Is(err, errBoom) || got != (domain.ConsentRecord{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAnInvalidCallLeavesNoTrace(t *testing.T) {
	w := newWorld(t) // expects no call of a store
	id, noID := w.ID, domain.SubjectID{}
	for name, c := range map[string]struct {
		call func() error
		want domain.Code
	}{
		"record a bad decision": {func() error {
			_, err := w.Record(ctx, w.Session, id, domain.ConsentDecision{Purpose: "newsletter"})
			return err
		}, domain.ErrInvalid},
		"record without an id": {func() error {
			_, err := w.Record(ctx, w.Session, noID, domain.ConsentDecision{Purpose: "p", PolicyVersion: "v", Source: "api"})
			return err
		}, domain.ErrSubject},
		"status of no purpose": {func() error {
			_, err := w.Status(ctx, w.Session, id, "")
			return err
		}, domain.ErrInvalid},
		"status without an id": {func() error {
			_, err := w.Status(ctx, w.Session, noID, "p")
			return err
		}, domain.ErrSubject},
		"status as of, of no purpose": {func() error {
			_, err := w.StatusAsOf(ctx, w.Session, id, "", noon)
			return err
		}, domain.ErrInvalid},
		"history of no purpose": {func() error {
			_, err := w.History(ctx, w.Session, id, "")
			return err
		}, domain.ErrInvalid},
		"history without an id": {func() error {
			_, err := w.History(ctx, w.Session, noID, "p")
			return err
		}, domain.ErrSubject},
	} {
		if err := c.call(); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestAllInvalidFieldsAreReportedTogether(t *testing.T) {
	w := newWorld(t)
	_, err := w.Record(ctx, w.Session, w.ID, domain.ConsentDecision{})
	var invalid *domain.Error
	if !errors.As(err, &invalid) || len(invalid.Fields) != 3 {
		t.Errorf("got %v, want three fields at fault", err)
	}
}

func TestTheStatusIsTheLatestRecord(t *testing.T) {
	w := newWorld(t)
	latest := domain.ConsentRecord{PolicyVersion: "v1", Granted: true, RecordedAt: noon, Source: "api"}
	w.Consents.EXPECT().Latest(ctx, w.ID, "newsletter", nil).Return(&latest, nil)
	got, err := w.Status(ctx, w.Session, w.ID, "newsletter")
	if want := domain.ConsentStatusOf(w.ID, "newsletter", &latest); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestWithoutARecordConsentIsNotGranted(t *testing.T) {
	w := newWorld(t)
	w.Consents.EXPECT().Latest(ctx, w.ID, "newsletter", nil).Return(nil, nil)
	got, err := w.Status(ctx, w.Session, w.ID, "newsletter")
	if err != nil || got.Granted || got.RecordedAt != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheStatusAsOfAnInstantQueriesInStoredPrecision(t *testing.T) {
	w := newWorld(t)
	w.Consents.EXPECT().Latest(ctx, w.ID, "newsletter", &noon).Return(nil, nil)
	if _, err := w.StatusAsOf(ctx, w.Session, w.ID, "newsletter", clockTime); err != nil {
		t.Error(err)
	}
}

func TestTheHistoryComesFromTheStore(t *testing.T) {
	w := newWorld(t)
	records := []domain.ConsentRecord{{Purpose: "newsletter", Granted: true}, {Purpose: "newsletter"}}
	w.Consents.EXPECT().History(ctx, w.ID, "newsletter").Return(records, nil)
	got, err := w.History(ctx, w.Session, w.ID, "newsletter")
	if err != nil || !reflect.DeepEqual(got, records) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAReadThatFailsIsAnError(t *testing.T) {
	w := newWorld(t)
	w.Consents.EXPECT().Latest(ctx, w.ID, "newsletter", gomock.Any()).Return(nil, errBoom).Times(2)
	w.Consents.EXPECT().History(ctx, w.ID, "newsletter").Return(nil, errBoom)
	_, statusErr := w.Status(ctx, w.Session, w.ID, "newsletter")
	_, asOfErr := w.StatusAsOf(ctx, w.Session, w.ID, "newsletter", noon)
	_, historyErr := w.History(ctx, w.Session, w.ID, "newsletter")
	for _, err := range []error{statusErr, asOfErr, historyErr} {
		if !errors.Is(err, errBoom) {
			t.Errorf("got %v", err)
		}
	}
}

func withPurposes(t *testing.T, w world, names ...string) *consent.Ledger {
	t.Helper()
	var purposes []domain.Purpose
	for _, name := range names {
		purposes = append(purposes, domain.Purpose{Name: name})
	}
	declared, err := domain.NewPurposes(purposes...)
	if err != nil {
		t.Fatal(err)
	}
	return w.WithPurposes(declared)
}

func TestStatusesCoverTheDeclaredPurposesAndTheOtherConsentsInForce(t *testing.T) {
	w := newWorld(t)
	record := domain.ConsentRecord{
		SubjectID: w.ID, Purpose: "ads", PolicyVersion: "v1", Granted: true, RecordedAt: noon, Source: "api",
	}
	older, former, ended := record, record, record
	older.Purpose, former.Purpose, ended.Purpose, ended.Granted = "z of old", "of old", "ended", false
	w.Consents.EXPECT().InForce(ctx, w.ID).Return([]domain.ConsentRecord{older, ended, record, former}, nil).Times(2)
	all, err := withPurposes(t, w, "news", "ads").Statuses(ctx, w.Session, w.ID)
	want := domain.ConsentStatuses{SubjectID: w.ID, Consents: []domain.ConsentStatus{
		domain.ConsentStatusOf(w.ID, "news", nil), domain.ConsentStatusOf(w.ID, "ads", &record),
		domain.ConsentStatusOf(w.ID, "z of old", &older), domain.ConsentStatusOf(w.ID, "of old", &former),
	}}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("got %+v, %v", all, err)
	}
	all, err = w.AllStatuses(ctx, w.Session, w.ID)
	want.Consents = []domain.ConsentStatus{
		want.Consents[2], domain.ConsentStatusOf(w.ID, "ended", &ended), want.Consents[1], want.Consents[3],
	}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("all without purposes: got %+v, %v", all, err)
	}
	w.Consents.EXPECT().InForce(ctx, w.ID).Return(nil, errBoom)
	if _, err := withPurposes(t, w, "news").Statuses(ctx, w.Session, w.ID); !errors.Is(err, errBoom) {
		t.Errorf("got %v", err)
	}
	// No query is expected.
	if all, err := w.Statuses(ctx, w.Session, w.ID); err != nil || all.Consents == nil || len(all.Consents) > 0 {
		t.Errorf("without purposes: %+v, %v", all, err)
	}
}
