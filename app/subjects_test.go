package app_test

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

func TestAnErasureMustMatchItsRehearsal(t *testing.T) {
	gdpr, db := newIntegration(t)
	anna := fixture.MustSubject(t, "1")
	databases.Insert(t, db, &shop.Customer{ID: 1, Email: "anna@example.org"})
	rehearsal, err := gdpr.Operator().Rehearse(t.Context(), anna)
	if err != nil || len(rehearsal.Steps) != 1 || rehearsal.Steps[0].Rows != 1 {
		t.Fatalf("got %+v, %v", rehearsal, err)
	}
	other := datamap.Plan{}.Fingerprint(gdpr.DataMap(), anna, nil, nil, nil)
	if result, err := gdpr.Operator().EraseAsRehearsed(t.Context(), anna, other); !errors.Is(err, domain.ErrConflict) ||
		result.Anonymized != nil {
		t.Errorf("another fingerprint: got %+v, %v", result, err)
	}
	result, err := gdpr.Operator().EraseAsRehearsed(t.Context(), anna, rehearsal.Fingerprint)
	if err != nil || result.Anonymized["customers"] != 1 {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestAnIntegrationVerifiesAnErasure(t *testing.T) {
	gdpr, db := newIntegration(t)
	anna := fixture.MustSubject(t, "1")
	databases.Insert(t, db, &shop.Customer{ID: 1, Email: "anna@example.org"})
	if _, err := gdpr.Operator().Verify(t.Context(), anna.ID); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("before: got %v, want %v", err, domain.ErrConflict)
	}
	result, err := gdpr.Operator().Erase(t.Context(), anna)
	must(t, err)
	verified, err := gdpr.Operator().Verify(t.Context(), anna.ID)
	if err != nil || len(verified.LeftOver) > 0 || verified.ErasedAt.After(result.CompletedAt) {
		t.Errorf("after: got %+v, %v", verified, err)
	}
	_, err = db.NewUpdate().Model(&shop.Customer{ID: 1, Email: "anna@example.org"}).WherePK().Exec(t.Context())
	must(t, err)
	if verified, err := gdpr.Operator().Verify(t.Context(), anna.ID); err != nil || verified.Life != domain.LifeUnknown {
		t.Errorf("a value that came back, perhaps of a new person: got %+v, %v", verified, err)
	}
	trail := fixture.Trail(t, gdpr.Sessions(), anna.ID)
	erasure := trail[0].Payload["operation_id"]
	last := trail[len(trail)-1]
	if last.EventType != domain.EventErasureVerified || last.Payload["operation_id"] != erasure {
		t.Errorf("the trail ends with %+v", last)
	}
	prewired := gdpr.Stack()
	prewired.Verifier = nil
	without, err := app.New(app.Config{Stack: &prewired})
	must(t, err)
	if _, err := without.Operator().Verify(t.Context(), anna.ID); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("without a verifier: got %v, want %v", err, domain.ErrConfiguration)
	}
}

// away is a session factory whose database cannot be reached.
type away struct{}

func (away) Do(context.Context, func(context.Context, ports.Session) error) error {
	return domain.ErrUnavailable
}

func (away) Rehearse(context.Context, func(context.Context, ports.Session) error) error {
	return domain.ErrUnavailable
}

func (away) Probe(context.Context) error { return domain.ErrUnavailable }

func TestAnOperatorUsesTheCurrentSessions(t *testing.T) {
	gdpr, _ := newIntegration(t)
	operator := gdpr.Operator()
	anna := fixture.MustSubject(t, "1")
	for name, c := range map[string]struct {
		factory ports.SessionFactory
		want    error
	}{
		"one of a store that is away": {away{}, domain.ErrUnavailable},
		"none":                        {nil, domain.ErrConfiguration},
	} {
		restore := gdpr.Sessions().Override(c.factory)
		_, rehearsal := operator.Rehearse(t.Context(), anna)
		_, read := operator.Installation(t.Context())
		_, renewed := operator.RenewInstallation(t.Context())
		_, registers := operator.Registers(t.Context())
		for call, err := range map[string]error{
			"Rehearse": rehearsal, "Installation": read, "RenewInstallation": renewed, "Registers": registers,
			"Probe": gdpr.Sessions().Probe(t.Context()),
		} {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %s returned %v, want %v", name, call, err, c.want)
			}
		}
		must(t, operator.Migrate(t.Context())) // works on Config.DB
		restore()
	}
	must(t, gdpr.Sessions().Probe(t.Context()))
}
