package maps

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// Employee is the subject of the data map with the name staff.
type Employee struct {
	bun.BaseModel `bun:"table:employees"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Name          string `bun:"name" pii:"identity,erasure:anonymize"`
	Phone         string `bun:"phone" pii:"contact,erasure:anonymize"`
}

// The models of the two data maps. The customers are the subjects of the data map without a name.
var (
	customers = []any{(*shop.Customer)(nil), (*shop.Invoice)(nil)}
	employees = []any{(*Employee)(nil)}
)

// desk is an external system that erases and corrects every subject, or refuses every call.
type desk struct{ refuses bool }

func (desk) Name() string { return "desk" }

func (desk) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (d desk) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	if d.refuses {
		return false, &domain.ResolverError{Resolver: "desk", Message: "refuses"}
	}
	return false, nil
}

// world is a database with both data maps.
type world struct {
	db           *bun.DB
	shop, people *app.Integration
}

// newWorld creates the tables of the application, with the customers and the employees 1 and 2, and the Integrations of
// both data maps with the tables of habeas.
func newWorld(t *testing.T, db *bun.DB, change ...func(*app.Config)) *world {
	t.Helper()
	databases.Create(t, db, append(customers, employees...)...)
	w := &world{db: db}
	shop.AddCustomers(t, db, 2, 0)
	for id := range int64(2) {
		id++
		databases.Insert(t, db,
			&shop.Invoice{CustomerID: id, Address: fmt.Sprintf("%d Main Street", id), IssuedAt: issued},
			&Employee{ID: id, Name: fmt.Sprintf("Employee %d", id), Phone: fmt.Sprintf("+49 30 555000%d", id)})
	}
	w.shop = newIntegration(t, db, customers, "", change...)
	w.people = newIntegration(t, db, employees, "staff", change...)
	must(t, w.shop.Migrate(t.Context()))
	must(t, w.people.Migrate(t.Context()))
	return w
}

func newIntegration(t *testing.T, db *bun.DB, models []any, name string, change ...func(*app.Config)) *app.Integration {
	t.Helper()
	config := app.Config{
		DB: db, Models: models, Name: name, Resolvers: []ports.Resolver{desk{}}, Logger: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&config)
	}
	gdpr, err := app.New(config)
	must(t, err)
	return gdpr
}

// issued is an instant after which the retention of an invoice has ended.
var issued = time.Date(2010, 1, 2, 0, 0, 0, 0, time.UTC)

func subject(t *testing.T, id string) domain.Subject {
	t.Helper()
	return fixture.MustSubject(t, id, domain.SubjectRef{Kind: "desk", Value: "contact-" + id})
}

// do runs fn in a session of a data map.
func do(t *testing.T, gdpr *app.Integration, fn func(context.Context, ports.Session) error) {
	t.Helper()
	must(t, gdpr.Sessions().Do(t.Context(), fn))
}

// seen returns everything that the operators and the subjects 1 and 2 of a data map can see, by operation. It leaves
// out the instants at which it was generated.
func seen(t *testing.T, gdpr *app.Integration) map[string]string {
	t.Helper()
	ctx, all := t.Context(), map[string]string{}
	show := func(what string, value any, err error) {
		t.Helper()
		must(t, err)
		text, err := json.Marshal(value)
		must(t, err)
		all[what] = string(text)
	}
	for _, id := range []string{"1", "2"} {
		id := subject(t, id)
		var bundle bytes.Buffer
		must(t, gdpr.Sessions().Rehearse(ctx, func(ctx context.Context, s ports.Session) error { // records no event
			return s.Subjects().Export(ctx, id.ID, func(r domain.ExportRecord) error {
				return json.NewEncoder(&bundle).Encode(r)
			})
		}))
		all["export "+id.ID.String()] = bundle.String()
		known, err := gdpr.Operator().SubjectState(ctx, id.ID)
		show("known "+id.ID.String(), known, err)
		trail, err := gdpr.Operator().Trail(ctx, id.ID)
		show("trail "+id.ID.String(), trail, err)
		consents, err := gdpr.Operator().Consents(ctx, id.ID)
		show("consents "+id.ID.String(), consents, err)
		history, err := gdpr.Operator().ConsentHistory(ctx, id.ID, "news")
		show("consent history "+id.ID.String(), history, err)
		do(t, gdpr, func(ctx context.Context, s ports.Session) error {
			purpose := "news"
			status, err := gdpr.Stack().Restriction.Status(ctx, s, id.ID, &purpose)
			show("restriction "+id.ID.String(), status, err)
			records, err := gdpr.Stack().Restriction.History(ctx, s, id.ID, nil)
			show("restriction history "+id.ID.String(), records, err)
			return nil
		})
	}
	do(t, gdpr, func(ctx context.Context, s ports.Session) error {
		counts, err := s.OutboxAdmin().Counts(ctx)
		show("outbox", counts, err)
		abandoned, err := s.OutboxAdmin().Abandoned(ctx, nil, 100)
		show("abandoned", abandoned, err)
		marks, err := s.Erased().Marks(ctx, domain.MarkQuery{Limit: 100})
		show("marks", marks, err)
		for _, reader := range []string{"sweep", "verification", "journal book"} {
			position, err := s.Erased().Position(ctx, reader)
			show("position "+reader, position, err)
		}
		return nil
	})
	installation, err := gdpr.Operator().Installation(ctx)
	show("installation", installation, err)
	var lines bytes.Buffer
	_, err = gdpr.Operator().Journal(ctx, &lines, journal.From{})
	must(t, err)
	all["journal"] = lines.String()
	return all
}

// unchanged checks that a data map shows the same as before.
func unchanged(t *testing.T, what string, before, after map[string]string) {
	t.Helper()
	for operation, want := range before {
		if got := after[operation]; got != want {
			t.Errorf("after %s in the other data map, %s is\n%s\nand was\n%s", what, operation,
				strings.TrimSpace(got), strings.TrimSpace(want))
		}
	}
}

var must = fixture.Must
