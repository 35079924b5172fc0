package fault_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// system is an external system whose method EraseSubject is a function of the test.
type system struct {
	ports.Resolver
	erase func(ctx context.Context) (bool, error)
}

func (system) Name() string { return "system" }

func (system) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (s system) EraseSubject(ctx context.Context, _ domain.SubjectRef, _ domain.ErasureCall) (bool, error) {
	return s.erase(ctx)
}

func with(erase func(ctx context.Context) (bool, error)) func(*app.Config) {
	return func(c *app.Config) { c.Resolvers = []ports.Resolver{system{erase: erase}} }
}

func succeeds(context.Context) (bool, error) { return false, nil }

func TestAPanicInAResolverIsAFailedAttempt(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db, with(func(context.Context) (bool, error) { panic("secret") }))
		w.erase()
		_, err := w.run()
		must(t, err)
		w.expect(domain.OutboxFailed, 1, "panic", 1)
	})
}

// hostile is an error whose methods panic.
type hostile struct{}

func (hostile) Error() string { panic("secret") }
func (hostile) Is(error) bool { panic("secret") }
func (hostile) As(any) bool   { panic("secret") }

func TestAnErrorThatCannotBeLookedAtIsAFailedAttempt(t *testing.T) {
	for name, err := range map[string]error{
		"methods that panic": hostile{}, "a nil pointer": (*domain.RetryLaterError)(nil),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, databases.SQLite(t), with(func(context.Context) (bool, error) { return false, err }))
			w.erase()
			_, err := w.run()
			must(t, err)
			w.expect(domain.OutboxFailed, 1, "panic", 1)
		})
	}
}

func TestAResolverThatIsGoneAfterARedeployLeavesItsEntryToOthers(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db, with(succeeds))
		w.erase()
		var reported []domain.OutboxEntry
		redeployed, err := app.New(app.Config{
			DB: db, Models: shop.Models, Clock: w.clock,
			OnAbandoned: func(_ context.Context, entry domain.OutboxEntry) { reported = append(reported, entry) },
		})
		must(t, err)
		for range 2 {
			_, err = redeployed.Stack().Runner.RunOnce(t.Context())
			must(t, err)
			w.expect(domain.OutboxPending, 0, "", 0)
		}

		// No process claims the entry, because only the first process has a resolver for the entry. After one day, the runner
		// reports the entry exactly once.
		w.clock.Advance(25 * time.Hour)
		for range 2 {
			_, err = redeployed.Stack().Runner.RunOnce(t.Context())
			must(t, err)
			w.expect(domain.OutboxPending, 0, "unclaimed", 1)
			w.clock.Advance(2 * time.Hour)
		}
		if len(reported) != 1 || reported[0].Status != domain.OutboxPending {
			t.Errorf("reported are %+v", reported)
		}

		// The first process has a resolver for the entry. It can still claim the entry and complete the erasure.
		_, err = w.run()
		must(t, err)
		w.expectCompletion(1, 3)
	})
}

// refuseOn adds a trigger that makes every INSERT or every UPDATE on a table fail. The operation is "INSERT" or
// "UPDATE". The returned function removes the trigger.
func refuseOn(t *testing.T, db *bun.DB, operation, table string) (stop func()) {
	t.Helper()
	statements := []string{
		"CREATE TRIGGER refuse BEFORE " + operation + " ON " + table + " BEGIN SELECT RAISE(ABORT, 'secret'); END",
	}
	drop := "DROP TRIGGER refuse"
	if db.Dialect().Name() == dialect.PG {
		drop += " ON " + table
		statements = []string{
			"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'secret'; END $$",
			"CREATE TRIGGER refuse BEFORE " + operation + " ON " + table + " FOR EACH ROW EXECUTE FUNCTION refuse()",
		}
	}
	databases.Execute(t, db, statements...)
	return func() {
		databases.Execute(t, db, drop)
	}
}

func TestAnAuditTrailThatCannotBeWrittenUndoesTheSettlement(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db, with(succeeds))
		w.erase()
		stop := refuseOn(t, db, "INSERT", "habeas_audit_events")
		if settled, err := w.run(); err == nil || settled != 0 {
			t.Errorf("%d settled, %v", settled, err)
		}
		w.expect(domain.OutboxInFlight, 1, "", 0)
		stop()
		if settled, err := w.run(); err != nil || settled != 0 {
			t.Errorf("claimed under a lease: %d, %v", settled, err)
		}
		w.clock.Advance(6 * time.Minute) // the lease has expired
		_, err := w.run()
		must(t, err)
		w.expectCompletion(2, 2)
	})
}

func TestADatabaseThatGoesAwayWhileSettlingIsHealedByTheLease(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		gone := errors.New("connection reset")
		w := newWorld(t, db, with(succeeds))
		w.erase()
		whole := w.gdpr.Stack()
		cutOff, err := stack.New(stack.Config{
			Sessions: &cut{whole.Sessions, 1, &domain.Error{Code: domain.ErrUnavailable, Err: gone}},
			DataMap:  whole.DataMap, Resolvers: []ports.Resolver{system{erase: succeeds}}, Clock: w.clock,
		})
		must(t, err)
		if settled, err := cutOff.Runner.RunOnce(t.Context()); !errors.Is(err, domain.ErrUnavailable) || settled != 0 {
			t.Errorf("%d settled, %v", settled, err)
		}
		w.expect(domain.OutboxInFlight, 1, "", 0)
		w.clock.Advance(6 * time.Minute)
		_, err = w.run()
		must(t, err)
		w.expectCompletion(2, 2)
		var bundle domain.ExportBundle
		w.send(http.MethodGet, "/me/export", &bundle)
	})
}

// cut is a session factory that opens only a limited number of sessions. Every later call of Do returns err.
type cut struct {
	ports.SessionFactory
	left int // number of sessions that it still opens
	err  error
}

func (c *cut) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	if c.left == 0 {
		return c.err
	}
	c.left--
	return c.SessionFactory.Do(ctx, fn)
}

func TestAContextThatEndsLetsTheCallInFlightFinish(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		ctx, stop := context.WithCancel(t.Context())
		w := newWorld(t, db, with(func(call context.Context) (bool, error) {
			stop()
			return false, call.Err()
		}))
		w.erase()
		settled, err := w.gdpr.Stack().Runner.RunOnce(ctx)
		must(t, err)
		if settled != 1 {
			t.Errorf("%d settled", settled)
		}
		w.expectCompletion(1, 2)
	})
}

func TestALeaseThatExpiredDuringTheCallMakesItsSettlementStale(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		var w *world
		calls := 0
		w = newWorld(t, db, with(func(context.Context) (bool, error) {
			calls++
			if calls == 1 { // this call takes longer than the lease, so another runner makes a second call meanwhile
				w.clock.Advance(6 * time.Minute)
				settled, err := w.run()
				if err != nil || settled != 1 {
					t.Errorf("the other runner settled %d, %v", settled, err)
				}
				return false, &domain.ResolverError{Resolver: "system", Message: "too late"}
			}
			return false, nil
		}))
		w.erase()
		settled, err := w.run()
		must(t, err)
		if settled != 0 || calls != 2 {
			t.Errorf("%d settled, %d calls", settled, calls)
		}
		w.expectCompletion(2, 2)
	})
}
