package bunstore_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// crm is a resolver that rectifies.
type crm struct{ desk }

func (crm) Name() string { return "crm" }

func (crm) RectifySubject(context.Context, domain.SubjectRef, domain.RectificationCall, domain.Corrections) error {
	return nil
}

// rectifiable is the shop with a service for rectifications and two resolvers, one of which can rectify.
type rectifiable struct {
	*shop
	rectifier *rectification.Rectifier
}

func newRectifiable(t testing.TB, db *bun.DB, ordersOfEach int) rectifiable {
	t.Helper()
	s := newShop(t, db, ordersOfEach, desk{}, crm{})
	dataMap := mapOf(t, db, models)
	rectifier, err := rectification.NewRectifier(rectification.Config{
		Clock: system.Clock{}, IDs: &system.IDs{}, DataMap: dataMap, Resolvers: []ports.Resolver{desk{}, crm{}},
	})
	must(t, err)
	s.alice.Refs = []domain.SubjectRef{{Kind: "crm", Value: "secret-ref"}, {Kind: "desk", Value: "d-1"}}
	return rectifiable{s, rectifier}
}

var corrected = domain.Corrections{
	domain.CategoryContact: "secret@example.org", domain.CategoryCommunication: "secret 'note' $1 é😀",
	domain.CategorySpecial: false,
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	return string(text)
}

// rectify rectifies in a new session.
func (r rectifiable) rectify(
	subject domain.Subject, corrections domain.Corrections,
) (result domain.RectificationResult, err error) {
	err = r.store.Do(context.Background(), func(ctx context.Context, session ports.Session) error {
		result, err = r.rectifier.RectifySubject(ctx, session, subject, corrections, rectification.AllColumns())
		return err
	})
	return result, err
}

// events returns the subject's audit trail.
func (r rectifiable) events(t testing.TB, id domain.SubjectID) []domain.AuditEvent {
	t.Helper()
	var trail []domain.AuditEvent
	r.do(t, func(ctx context.Context, session ports.Session) (err error) {
		trail, err = session.Audit().Trail(ctx, id)
		return err
	})
	return trail
}
