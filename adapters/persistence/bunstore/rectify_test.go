package bunstore_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/databases"
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
	dataMap, err := bunmodels.Read(db, models, nil)
	must(t, err)
	rectifier, err := rectification.NewRectifier(rectification.Config{
		Clock: system.Clock{}, IDs: &system.IDs{}, DataMap: dataMap, Resolvers: []ports.Resolver{desk{}, crm{}},
	})
	must(t, err)
	s.alice.Refs = []domain.SubjectRef{{Kind: "crm", Value: "secret-ref"}, {Kind: "desk", Value: "d-1"}}
	return rectifiable{s, rectifier}
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

// exported returns the exported values of the subject. The keys have the form "table.field".
func (r rectifiable) exported(t testing.TB, subject domain.Subject) map[string][]any {
	t.Helper()
	values := map[string][]any{}
	r.do(t, func(ctx context.Context, session ports.Session) error {
		bundle, err := r.exporter.Export(ctx, session, subject)
		for _, record := range bundle.Records {
			name := record.Source + "." + record.Field
			values[name] = append(values[name], record.Value)
		}
		return err
	})
	return values
}

var corrected = domain.Corrections{
	domain.CategoryContact: "secret@example.org", domain.CategoryCommunication: "secret 'note' $1 é😀",
	domain.CategorySpecial: false,
}

func TestARectificationIsReadByTheApplicationAndByAnExport(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		r := newRectifiable(t, db, 3)
		before, bob := r.exported(t, r.alice), r.exported(t, r.bob)
		result, err := r.rectify(r.alice, corrected)
		must(t, err)
		if !maps.Equal(result.Rectified, map[string]int64{"users": 1, "orders": 3, "invoices": 1}) ||
			!slices.Equal(result.EnqueuedExternal, []string{"crm"}) || !slices.Equal(result.SkippedResolvers, []string{"desk"}) {
			t.Errorf("result %+v", result)
		}

		ctx := context.Background()
		user, invoice, orders := User{ID: 1}, Invoice{}, []Order{}
		must(t, db.NewSelect().Model(&user).WherePK().Scan(ctx))
		must(t, db.NewSelect().Model(&invoice).Where("user_id = 1").Scan(ctx))
		must(t, db.NewSelect().Model(&orders).Where("user_id = 1").Scan(ctx))
		if user.Email != "secret@example.org" || user.Vegan || user.Theme != "dark" || user.Age != 33 ||
			*user.Name != "Name" {
			t.Errorf("user %+v", user)
		}
		if invoice.Contact != "secret@example.org" || invoice.Address != "Main Street 1" {
			t.Errorf("invoice %+v", invoice)
		}
		for _, order := range orders {
			if order.Note != "secret 'note' $1 é😀" || order.Shipped {
				t.Errorf("order %+v", order)
			}
		}

		want := maps.Clone(before)
		want["users.email"], want["users.vegan"] = []any{"secret@example.org"}, []any{false}
		want["invoices.contact"] = want["users.email"]
		want["orders.note"] = slices.Repeat([]any{"secret 'note' $1 é😀"}, 3)
		if got := r.exported(t, r.alice); asJSON(t, got) != asJSON(t, want) {
			t.Errorf("\n got %s\nwant %s", asJSON(t, got), asJSON(t, want))
		}
		if got := r.exported(t, r.bob); asJSON(t, got) != asJSON(t, bob) {
			t.Errorf("another subject's data became %s", asJSON(t, got))
		}
		if dump := strings.Join(r.dump(t), "\n"); strings.Contains(dump, "habeas_subject_erasures") {
			t.Error("a rectification left the mark of an erasure")
		}
	})
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	return string(text)
}

func TestARectificationIsOnTheTrailWithoutAnyValue(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		r := newRectifiable(t, db, 2)
		_, err := r.rectify(r.alice, corrected)
		must(t, err)
		type event struct {
			EventType domain.EventType
			Payload   domain.Payload
		}
		var got []event
		for _, e := range r.events(t, r.alice.ID) {
			if e.Payload[domain.PayloadOperationID] == nil {
				t.Errorf("%s has no operation", e.EventType)
			}
			delete(e.Payload, domain.PayloadOperationID)
			got = append(got, event{e.EventType, e.Payload})
		}
		want := []event{
			{"rectification_requested", domain.Payload{
				"categories": "communication,contact,special", "local_steps": 3, "external_steps": 1, "refs": 2,
			}},
			{"rectification_step_succeeded", domain.Payload{"target": "users", "rows": 1}},
			{"rectification_step_succeeded", domain.Payload{"target": "orders", "rows": 2}},
			{"rectification_step_succeeded", domain.Payload{"target": "invoices", "rows": 1}},
			{"rectification_local_completed", domain.Payload{"rectified": 4, "enqueued": 1, "skipped_resolvers": "desk"}},
		}
		if asJSON(t, got) != asJSON(t, want) {
			t.Errorf("\n got %s\nwant %s", asJSON(t, got), asJSON(t, want))
		}
	})
}

func TestARectificationEnqueuesItsCorrections(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		r := newRectifiable(t, db, 1)
		_, err := r.rectify(r.alice, corrected)
		must(t, err)
		var rows []struct{ Resolver, Operation, Status, Ref, Corrections string }
		must(t, db.NewSelect().Table("habeas_outbox").Column("resolver", "operation", "status", "ref", "corrections").
			Scan(context.Background(), &rows))
		if len(rows) != 1 || rows[0].Resolver != "crm" || rows[0].Operation != "rectify" || rows[0].Status != "pending" {
			t.Fatalf("the outbox holds %+v", rows)
		}
		var stored domain.Corrections
		must(t, json.Unmarshal([]byte(rows[0].Corrections), &stored))
		if !maps.Equal(stored, corrected) {
			t.Errorf("corrections %s", rows[0].Corrections)
		}
	})
}
