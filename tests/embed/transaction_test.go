package embed_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// checkout is a shop with two routes that call habeas inside their own transactions. If the query of a URL contains
// fail=true, the request fails at the end of the transaction.
type checkout struct {
	db     *bun.DB
	gdpr   *app.Integration
	server *fiber.App
}

func newCheckout(t *testing.T, db *bun.DB) checkout {
	t.Helper()
	openShop(t, db)
	h := checkout{db, newIntegration(t, db, newNewsletter()), fiber.New()}
	h.server.Use(authenticate)
	h.server.Post("/orders", h.inTransaction(h.order))
	h.server.Delete("/account", h.inTransaction(h.closeAccount))
	return h
}

// inTransaction returns a route handler, which calls the given function in a transaction of the host.
func (h checkout) inTransaction(run func(ctx context.Context, tx bun.Tx, customer *shop.Customer) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		return h.db.RunInTx(c.UserContext(), nil, func(ctx context.Context, tx bun.Tx) error {
			if err := run(ctx, tx, c.Locals("customer").(*shop.Customer)); err != nil {
				return err
			}
			if c.QueryBool("fail") {
				return fiber.ErrPaymentRequired
			}
			return nil
		})
	}
}

// order inserts a parcel of the customer, and records the consent for the delivery.
func (h checkout) order(ctx context.Context, tx bun.Tx, customer *shop.Customer) error {
	if _, err := tx.NewInsert().Model(&shop.Parcel{CustomerID: customer.ID, Address: "a gift"}).Exec(ctx); err != nil {
		return err
	}
	sessions, err := h.gdpr.Join(tx)
	if err != nil {
		return err
	}
	subject, err := domain.NewSubject("1")
	if err != nil {
		return err
	}
	return sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		decision := domain.ConsentDecision{Purpose: "delivery", PolicyVersion: "v1", Granted: true, Source: "checkout"}
		_, err := h.gdpr.Stack().Consent.Record(ctx, s, subject.ID, decision)
		return err
	})
}

// closeAccount erases the customer with habeas. In the same transaction, it sets the column plan to "closed". This
// column is not in the data map.
func (h checkout) closeAccount(ctx context.Context, tx bun.Tx, customer *shop.Customer) error {
	sessions, err := h.gdpr.Join(tx)
	if err != nil {
		return err
	}
	subject, err := domain.NewSubject("1", domain.SubjectRef{Kind: "newsletter", Value: "subscriber 7"})
	if err != nil {
		return err
	}
	if err := sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := h.gdpr.Stack().Eraser.Erase(ctx, s, subject)
		return err
	}); err != nil {
		return err
	}
	_, err = tx.NewUpdate().Model(customer).WherePK().Set("plan = 'closed'").Exec(ctx)
	return err
}

// state has all values that the two routes of checkout change: numbers of rows, and columns of the customer.
type state struct {
	orders, consents, events, entries, marks int
	email, plan                              string
}

func (h checkout) state(t *testing.T) state {
	t.Helper()
	var customer shop.Customer
	must(t, h.db.NewSelect().Model(&customer).Where("id = 1").Scan(t.Context()))
	return state{
		orders: count(t, h.db, "parcels"), consents: count(t, h.db, "habeas_consent_records"),
		events: count(t, h.db, "habeas_audit_events"), entries: count(t, h.db, "habeas_outbox"),
		marks: count(t, h.db, "habeas_subject_erasures"), email: customer.Email, plan: customer.Plan,
	}
}

func TestAConsentIsPartOfTheHostsTransaction(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		h := newCheckout(t, db)
		before := h.state(t)
		got := send(t, h.server, newRequest("1", "POST", "/orders?fail=true", ""))
		if got.StatusCode != http.StatusPaymentRequired || h.state(t) != before {
			t.Errorf("%d, and the rollback of the host left %+v", got.StatusCode, h.state(t))
		}
		if got := send(t, h.server, newRequest("1", "POST", "/orders", "")); got.StatusCode != 200 {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		after := before
		after.orders, after.consents, after.events = before.orders+1, 1, 1
		if h.state(t) != after {
			t.Errorf("the commit of the host left %+v, want %+v", h.state(t), after)
		}
		if !granted(t, h.gdpr, "1", "delivery") {
			t.Error("the consent is not in force")
		}
	})
}

func TestAnErasureIsPartOfTheHostsTransaction(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		h := newCheckout(t, db)
		before := h.state(t)
		got := send(t, h.server, newRequest("1", "DELETE", "/account?fail=true", ""))
		if got.StatusCode != http.StatusPaymentRequired || h.state(t) != before {
			t.Errorf("%d, and the rollback of the host left %+v", got.StatusCode, h.state(t))
		}
		if got := send(t, h.server, newRequest("1", "DELETE", "/account", "")); got.StatusCode != 200 {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		after := h.state(t)
		if after.orders != before.orders-1 || after.email == before.email || after.plan != "closed" ||
			after.entries != 1 || after.marks != 1 {
			t.Errorf("the commit of the host left %+v", after)
		}
		want := []domain.EventType{
			domain.EventErasureRequested, domain.EventErasureStepSucceeded, domain.EventErasureStepSucceeded,
			domain.EventErasureLocalCompleted,
		}
		if got := trail(t, h.gdpr.Stack().Sessions, "1"); !slices.Equal(got, want) {
			t.Errorf("the trail is %v", got)
		}
		if emails(t, db)[1] != "c2@example.org" {
			t.Error("somebody else was erased")
		}
	})
}

// If a session of habeas fails in a transaction of the host, only the writes of this session are undone. The host can
// continue and commit its transaction.
func TestAFailureOfHabeasLeavesTheHostsTransactionUsable(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		h := newCheckout(t, db)
		must(t, db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
			sessions, err := h.gdpr.Join(tx)
			must(t, err)
			err = sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
				id := fixture.MustID(t, "1")
				decision := domain.ConsentDecision{Purpose: "delivery", PolicyVersion: "v1", Granted: true, Source: "checkout"}
				if _, err := h.gdpr.Stack().Consent.Record(ctx, s, id, decision); err != nil {
					return err
				}
				return errHost
			})
			if err == nil {
				t.Error("the session has succeeded")
			}
			_, err = tx.NewInsert().Model(&shop.Parcel{CustomerID: 1, Address: "a gift"}).Exec(ctx)
			return err
		}))
		if got := h.state(t); got.orders != 3 || got.consents != 0 || got.events != 0 {
			t.Errorf("left: %+v", got)
		}
	})
}
