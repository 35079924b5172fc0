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
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports/mocks"
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
	session *mocks.MockSession
	store   *mocks.MockConsentStore
	audit   *mocks.MockAuditLog
	id      domain.SubjectID
}

func newWorld(t *testing.T) world {
	t.Helper()
	ctrl := gomock.NewController(t)
	w := world{
		Ledger:  consent.NewLedger(fixture.NewClock(clockTime), &fixture.IDs{}),
		session: mocks.NewMockSession(ctrl), store: mocks.NewMockConsentStore(ctrl), audit: mocks.NewMockAuditLog(ctrl),
		id: fixture.MustID(t, "42"),
	}
	w.session.EXPECT().Consents().Return(w.store).AnyTimes()
	w.session.EXPECT().Audit().Return(w.audit).AnyTimes()
	return w
}

func TestADecisionIsRecordedWithItsEvent(t *testing.T) {
	for granted, eventType := range map[bool]domain.EventType{
		true:  "consent_granted",
		false: "consent_withdrawn",
	} {
		w := newWorld(t)
		record := domain.ConsentRecord{
			SubjectID: w.id, Purpose: "newsletter", PolicyVersion: "v1", Granted: granted, RecordedAt: noon, Source: "api",
		}
		event := domain.AuditEvent{
			EventID: "id-1", EventType: eventType, SubjectRef: w.id, OccurredAt: noon,
			Payload: domain.Payload{"source": "api"},
		}
		gomock.InOrder(w.store.EXPECT().Append(ctx, record), w.audit.EXPECT().Append(ctx, event))

		got, err := w.Record(ctx, w.session, w.id, domain.ConsentDecision{
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
	w.store.EXPECT().Append(ctx, gomock.Any()).Return(errBoom) // no event follows
	if got, err := w.Record(ctx, w.session, w.id, decision); !errors.Is(err, errBoom) || got != (domain.ConsentRecord{}) {
		t.Errorf("got %+v, %v", got, err)
	}

	w = newWorld(t)
	w.store.EXPECT().Append(ctx, gomock.Any())
	w.audit.EXPECT().Append(ctx, gomock.Any()).Return(errBoom)
	if got, err := w.Record(ctx, w.session, w.id, decision); !errors.Is(err, errBoom) || got != (domain.ConsentRecord{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAnInvalidCallLeavesNoTrace(t *testing.T) {
	w := newWorld(t) // expects no call of a store
	id, noID := w.id, domain.SubjectID{}
	for name, c := range map[string]struct {
		call func() error
		want domain.Code
	}{
		"record a bad decision": {func() error {
			_, err := w.Record(ctx, w.session, id, domain.ConsentDecision{Purpose: "newsletter"})
			return err
		}, domain.ErrInvalid},
		"record without an id": {func() error {
			_, err := w.Record(ctx, w.session, noID, domain.ConsentDecision{Purpose: "p", PolicyVersion: "v", Source: "api"})
			return err
		}, domain.ErrSubject},
		"status of no purpose": {func() error {
			_, err := w.Status(ctx, w.session, id, "")
			return err
		}, domain.ErrInvalid},
		"status without an id": {func() error {
			_, err := w.Status(ctx, w.session, noID, "p")
			return err
		}, domain.ErrSubject},
		"status as of, of no purpose": {func() error {
			_, err := w.StatusAsOf(ctx, w.session, id, "", noon)
			return err
		}, domain.ErrInvalid},
		"history of no purpose": {func() error {
			_, err := w.History(ctx, w.session, id, "")
			return err
		}, domain.ErrInvalid},
		"history without an id": {func() error {
			_, err := w.History(ctx, w.session, noID, "p")
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
	_, err := w.Record(ctx, w.session, w.id, domain.ConsentDecision{})
	var invalid *domain.Error
	if !errors.As(err, &invalid) || len(invalid.Fields) != 3 {
		t.Errorf("got %v, want three fields at fault", err)
	}
}

func TestTheStatusIsTheLatestRecord(t *testing.T) {
	w := newWorld(t)
	latest := domain.ConsentRecord{PolicyVersion: "v1", Granted: true, RecordedAt: noon, Source: "api"}
	w.store.EXPECT().Latest(ctx, w.id, "newsletter", nil).Return(&latest, nil)
	got, err := w.Status(ctx, w.session, w.id, "newsletter")
	if want := domain.ConsentStatusOf(w.id, "newsletter", &latest); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestWithoutARecordConsentIsNotGranted(t *testing.T) {
	w := newWorld(t)
	w.store.EXPECT().Latest(ctx, w.id, "newsletter", nil).Return(nil, nil)
	got, err := w.Status(ctx, w.session, w.id, "newsletter")
	if err != nil || got.Granted || got.RecordedAt != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheStatusAsOfAnInstantQueriesInStoredPrecision(t *testing.T) {
	w := newWorld(t)
	w.store.EXPECT().Latest(ctx, w.id, "newsletter", &noon).Return(nil, nil)
	if _, err := w.StatusAsOf(ctx, w.session, w.id, "newsletter", clockTime); err != nil {
		t.Error(err)
	}
}

func TestTheHistoryComesFromTheStore(t *testing.T) {
	w := newWorld(t)
	records := []domain.ConsentRecord{{Purpose: "newsletter", Granted: true}, {Purpose: "newsletter"}}
	w.store.EXPECT().History(ctx, w.id, "newsletter").Return(records, nil)
	got, err := w.History(ctx, w.session, w.id, "newsletter")
	if err != nil || !reflect.DeepEqual(got, records) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAReadThatFailsIsAnError(t *testing.T) {
	w := newWorld(t)
	w.store.EXPECT().Latest(ctx, w.id, "newsletter", gomock.Any()).Return(nil, errBoom).Times(2)
	w.store.EXPECT().History(ctx, w.id, "newsletter").Return(nil, errBoom)
	_, statusErr := w.Status(ctx, w.session, w.id, "newsletter")
	_, asOfErr := w.StatusAsOf(ctx, w.session, w.id, "newsletter", noon)
	_, historyErr := w.History(ctx, w.session, w.id, "newsletter")
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
		SubjectID: w.id, Purpose: "ads", PolicyVersion: "v1", Granted: true, RecordedAt: noon, Source: "api",
	}
	older, former, ended := record, record, record
	older.Purpose, former.Purpose, ended.Purpose, ended.Granted = "z of old", "of old", "ended", false
	w.store.EXPECT().InForce(ctx, w.id).Return([]domain.ConsentRecord{older, ended, record, former}, nil).Times(2)
	all, err := withPurposes(t, w, "news", "ads").Statuses(ctx, w.session, w.id)
	want := domain.ConsentStatuses{SubjectID: w.id, Consents: []domain.ConsentStatus{
		domain.ConsentStatusOf(w.id, "news", nil), domain.ConsentStatusOf(w.id, "ads", &record),
		domain.ConsentStatusOf(w.id, "z of old", &older), domain.ConsentStatusOf(w.id, "of old", &former),
	}}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("got %+v, %v", all, err)
	}
	all, err = w.AllStatuses(ctx, w.session, w.id)
	want.Consents = []domain.ConsentStatus{
		want.Consents[2], domain.ConsentStatusOf(w.id, "ended", &ended), want.Consents[1], want.Consents[3],
	}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("all without purposes: got %+v, %v", all, err)
	}
	w.store.EXPECT().InForce(ctx, w.id).Return(nil, errBoom)
	if _, err := withPurposes(t, w, "news").Statuses(ctx, w.session, w.id); !errors.Is(err, errBoom) {
		t.Errorf("got %v", err)
	}
	// No query is expected.
	if all, err := w.Statuses(ctx, w.session, w.id); err != nil || all.Consents == nil || len(all.Consents) > 0 {
		t.Errorf("without purposes: %+v, %v", all, err)
	}
}
