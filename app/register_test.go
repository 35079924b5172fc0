package app_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// withRegister returns an integration with a register, and with one customer.
func withRegister(t *testing.T, requests stack.Requests) *app.Integration {
	t.Helper()
	db := databases.SQLite(t)
	shop.Open(t, db, models)
	gdpr, err := app.New(app.Config{
		DB: db, Models: models, Zone: "Europe/Berlin", Options: stack.Options{Requests: &requests},
	})
	must(t, err)
	databases.Insert(t, db, &shop.Customer{ID: 1, Email: "anna@example.org"})
	return gdpr
}

func TestTheRegisterNeedsAZoneAndAPersonForItsResolvers(t *testing.T) {
	db := databases.SQLite(t)
	for want, c := range map[string]app.Config{
		"Zone": {Options: stack.Options{Requests: &stack.Requests{}}},
		"Requests.Person": {
			Zone: "UTC", Options: stack.Options{Requests: &stack.Requests{}},
			Resolvers: []ports.Resolver{forgetful{}},
		},
	} {
		c.DB, c.Models = db, models
		if _, err := app.New(c); !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	gdpr, _ := newIntegration(t)
	if gdpr.Register() != nil {
		t.Error("there is a register without Config.Requests")
	}
}

// A letter of last Monday asks for an erasure. An operator enters it, and carries it out.
func TestAnOperatorAnswersALetter(t *testing.T) {
	var asked []domain.SubjectID
	gdpr := withRegister(t, stack.Requests{
		Person: func(ctx context.Context, id domain.SubjectID) (context.Context, domain.Subject, error) {
			asked = append(asked, id)
			return ctx, domain.Subject{ID: id}, nil
		},
	})
	book, id := gdpr.Register(), fixture.MustID(t, "1")
	ctx, err := domain.WithOperator(t.Context(), "ada")
	must(t, err)
	monday := time.Now().AddDate(0, 0, -5)
	letter, isNew, err := book.Open(ctx, register.Opening{
		Kind: request.Erasure, Channel: request.Operator, Reference: "A-17", ReceivedAt: monday,
	})
	if err != nil || !isNew {
		t.Fatalf("opened: %v, %v", isNew, err)
	}
	if _, err := book.CarryOut(ctx, letter.Number); !errors.Is(err, domain.ErrInvalid) {
		t.Errorf("nobody knows the person: got %v", err)
	}
	_, err = book.Assign(ctx, letter.Number, id, request.DocumentSeen)
	must(t, err)
	counts, err := book.Counts(ctx)
	if err != nil || counts.Open != 1 || counts.Overdue != 0 {
		t.Errorf("counted %+v, %v", counts, err)
	}
	if _, err := book.CarryOut(t.Context(), letter.Number); !errors.Is(err, domain.ErrInvalid) {
		t.Errorf("without an operator: got %v", err)
	}
	result, err := book.CarryOut(ctx, letter.Number)
	if err != nil || result.Request != string(letter.Number) || result.Anonymized["customers"] != 1 || len(asked) != 1 {
		t.Errorf("carried out: %+v, %v", result, err)
	}
	if _, err := book.CarryOut(ctx, letter.Number); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("again: got %v", err)
	}
	closed, err := book.List(ctx, request.Query{Closed: true, Limit: 10})
	if err != nil || len(closed) != 1 || closed[0].State != request.Fulfilled || closed[0].DecidedBy != "ada" {
		t.Errorf("closed: %+v, %v", closed, err)
	}
}

func TestADecisionIsAppliedThroughTheIntegration(t *testing.T) {
	gdpr := withRegister(t, stack.Requests{})
	book := gdpr.Register()
	opened, _, err := book.Open(t.Context(), register.Opening{
		SubjectID: fixture.MustID(t, "1"), Kind: request.Access, Channel: request.SelfService,
	})
	must(t, err)
	_, err = book.Apply(t.Context(), opened.Number, request.Event{Name: request.Extend, Extension: request.Complex})
	must(t, err)
	found, err := book.Find(t.Context(), opened.Number)
	if err != nil || found.ExtensionReason != request.Complex {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := book.Find(t.Context(), "00000000000000000000"); !errors.Is(err, domain.ErrNotFound) {
		t.Errorf("unknown: got %v", err)
	}
}

func TestThePersonOfARequestMustBeTheSame(t *testing.T) {
	gdpr := withRegister(t, stack.Requests{
		Person: func(ctx context.Context, _ domain.SubjectID) (context.Context, domain.Subject, error) {
			return ctx, fixture.MustSubject(t, "2"), nil
		},
	})
	ctx, err := domain.WithOperator(t.Context(), "ada")
	must(t, err)
	opened, _, err := gdpr.Register().Open(ctx, register.Opening{
		SubjectID: fixture.MustID(t, "1"), Kind: request.Erasure, Channel: request.Agent,
	})
	must(t, err)
	if _, err := gdpr.Register().CarryOut(ctx, opened.Number); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}

// A person leaves without an erasure, and the id is given again.
func TestTheNextPersonIsRegisteredWithoutTheRequestsOfTheFormer(t *testing.T) {
	gdpr := withRegister(t, stack.Requests{})
	anna := fixture.MustSubject(t, "1")
	opened, _, err := gdpr.Register().Open(t.Context(), register.Opening{
		SubjectID: anna.ID, Kind: request.Access, Channel: request.SelfService,
	})
	must(t, err)
	must(t, gdpr.Sessions().Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return gdpr.Registered(ctx, s, anna)
	}))
	found, err := gdpr.Register().Find(t.Context(), opened.Number)
	if err != nil || found.State != request.Withdrawn || found.StateReason != string(request.EarlierLife) {
		t.Errorf("the request is %s (%s), %v", found.State, found.StateReason, err)
	}
}
