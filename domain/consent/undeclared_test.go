package consent_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/ports"
)

// expectUnknown checks that the error is that of an undeclared purpose.
func expectUnknown(t *testing.T, err error) {
	t.Helper()
	var refused *domain.Error
	if !errors.As(err, &refused) || refused.Code != domain.ErrInvalid || len(refused.Fields) != 1 ||
		refused.Fields[0].Field != "purpose" || refused.Fields[0].Code != domain.FieldUnknown {
		t.Errorf("got %v, want the error of an undeclared purpose", err)
	}
}

func TestAnUndeclaredPurposeIsRefusedExceptForThePast(t *testing.T) {
	w := newWorld(t)
	ledger := withPurposes(t, w, "news")
	decision := domain.ConsentDecision{Purpose: "ads", PolicyVersion: "v1", Granted: true, Source: "api"}
	_, err := ledger.Record(ctx, w.Session, w.ID, decision) // reads nothing
	expectUnknown(t, err)

	decision.Granted = false
	for name, latest := range map[string]*domain.ConsentRecord{"no record": nil, "withdrawn": {Purpose: "ads"}} {
		t.Run(name, func(t *testing.T) {
			w.Consents.EXPECT().Latest(ctx, w.ID, "ads", nil).Return(latest, nil).Times(2) // writes nothing
			_, err := ledger.Record(ctx, w.Session, w.ID, decision)
			expectUnknown(t, err)
			_, err = ledger.Status(ctx, w.Session, w.ID, "ads")
			expectUnknown(t, err)
		})
	}
	w.Consents.EXPECT().Latest(ctx, w.ID, "ads", nil).Return(nil, errBoom).Times(2)
	_, recordErr := ledger.Record(ctx, w.Session, w.ID, decision)
	_, statusErr := ledger.Status(ctx, w.Session, w.ID, "ads")
	if !errors.Is(recordErr, errBoom) || !errors.Is(statusErr, errBoom) {
		t.Errorf("a read that fails: %v, %v", recordErr, statusErr)
	}

	w.Consents.EXPECT().History(ctx, w.ID, "ads")
	w.Consents.EXPECT().Latest(ctx, w.ID, "ads", gomock.Not(gomock.Nil()))
	_, historyErr := ledger.History(ctx, w.Session, w.ID, "ads")
	_, asOfErr := ledger.StatusAsOf(ctx, w.Session, w.ID, "ads", clockTime)
	if historyErr != nil || asOfErr != nil {
		t.Errorf("the past: %v, %v", historyErr, asOfErr)
	}
}

func TestADecisionAboutADeclaredPurposeReadsNothing(t *testing.T) {
	for _, granted := range []bool{true, false} {
		w := newWorld(t)
		w.Consents.EXPECT().Append(ctx, gomock.Any()) // and no Latest
		w.Audit.EXPECT().Append(ctx, gomock.Any())
		decision := domain.ConsentDecision{Purpose: "news", PolicyVersion: "v1", Granted: granted, Source: "api"}
		if _, err := withPurposes(t, w, "news").Record(ctx, w.Session, w.ID, decision); err != nil {
			t.Errorf("granted %v: %v", granted, err)
		}
	}
}

// The purpose "ads" was declared when Zoe consented to it. The application then removed it from the list.
func TestAConsentInForceForAnUndeclaredPurposeCanBeWithdrawn(t *testing.T) {
	engines := shop(nil)
	zoe, err := domain.NewSubjectID("42")
	check(err)
	declared, err := domain.NewPurposes(domain.Purpose{Name: "news"})
	check(err)
	ledger := engines.Consent.WithPurposes(declared)
	in := func(fn func(context.Context, ports.Session) error) error {
		return engines.Sessions.Do(t.Context(), fn)
	}
	record := func(ledger *consent.Ledger, granted bool) error {
		return in(func(ctx context.Context, s ports.Session) error {
			_, err := ledger.Record(ctx, s, zoe, domain.ConsentDecision{
				Purpose: "ads", PolicyVersion: "v1", Granted: granted, Source: "api",
			})
			return err
		})
	}
	purposes := func() (listed []string) {
		check(in(func(ctx context.Context, s ports.Session) error {
			all, err := ledger.Statuses(ctx, s, zoe)
			for _, status := range all.Consents {
				listed = append(listed, status.Purpose)
			}
			return err
		}))
		return listed
	}
	check(record(engines.Consent, true)) // without purposes, as before the change of the list
	if got := purposes(); !reflect.DeepEqual(got, []string{"news", "ads"}) {
		t.Errorf("before the withdrawal, %v are listed", got)
	}
	check(in(func(ctx context.Context, s ports.Session) error {
		status, err := ledger.Status(ctx, s, zoe, "ads")
		if !status.Granted {
			t.Errorf("got %+v", status)
		}
		return err
	}))
	expectUnknown(t, record(ledger, true))
	if err := record(ledger, false); err != nil {
		t.Errorf("the withdrawal: %v", err)
	}
	if got := purposes(); !reflect.DeepEqual(got, []string{"news"}) {
		t.Errorf("after the withdrawal, %v are listed", got)
	}
	expectUnknown(t, record(ledger, false))

	check(in(func(ctx context.Context, s ports.Session) error {
		history, err := ledger.History(ctx, s, zoe, "ads")
		if len(history) != 2 || history[1].Granted {
			t.Errorf("the ledger has %+v", history)
		}
		events, trailErr := s.Audit().Trail(ctx, zoe)
		if last := events[len(events)-1]; len(events) != 2 || last.EventType != domain.EventConsentWithdrawn ||
			!reflect.DeepEqual(last.Payload, domain.Payload{"source": "api"}) {
			t.Errorf("the trail has %+v", events)
		}
		return errors.Join(err, trailErr)
	}))
}
