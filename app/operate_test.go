package app_test

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func TestAnIntegrationErasesAsItWasRehearsed(t *testing.T) {
	gdpr, db := newIntegration(t)
	anna, err := domain.NewSubject("1")
	must(t, err)
	_, err = db.NewInsert().Model(&Person{ID: 1, Email: "anna@example.org"}).Exec(t.Context())
	must(t, err)
	rehearsal, err := gdpr.Rehearse(t.Context(), anna)
	if err != nil || len(rehearsal.Steps) != 1 || rehearsal.Steps[0].Rows != 1 {
		t.Fatalf("got %+v, %v", rehearsal, err)
	}
	other := domain.Plan{}.Fingerprint(nil, nil)
	if result, err := gdpr.EraseAsRehearsed(t.Context(), anna, other); !errors.Is(err, domain.ErrConflict) ||
		result.Anonymized != nil {
		t.Errorf("as another one: got %+v, %v", result, err)
	}
	result, err := gdpr.EraseAsRehearsed(t.Context(), anna, rehearsal.Fingerprint)
	if err != nil || result.Anonymized["persons"] != 1 {
		t.Errorf("got %+v, %v", result, err)
	}
}

// plain is a session factory that cannot rehearse.
type plain struct{ ports.SessionFactory }

func TestAnIntegrationRehearsesWithTheSessionsInForce(t *testing.T) {
	gdpr, _ := newIntegration(t)
	anna, err := domain.NewSubject("1")
	must(t, err)
	for name, factory := range map[string]ports.SessionFactory{"one that cannot": plain{gdpr.Stack().Sessions}, "none": nil} {
		restore := gdpr.Sessions().Override(factory)
		if _, err := gdpr.Rehearse(context.Background(), anna); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: got %v, want %v", name, err, domain.ErrConfiguration)
		}
		restore()
	}
}
