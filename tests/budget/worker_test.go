package budget_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// desk is an external system that responds immediately. The runner calls no other method.
type desk struct{ ports.Resolver }

func (desk) Name() string { return "desk" }

func (desk) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (alreadyAbsent bool, err error) {
	return false, nil
}

// batches has the maximum number of round trips for each kind of batch: the beginning, the claim and the commit, and
// then the beginning, the lock, the outcomes, the audit events and the commit.
var batches = []struct {
	name         string
	new, retries int
	trips        int64
}{
	{"no entry", 0, 0, 3},
	{"a few new entries", 7, 0, 8},
	{"a full batch of new entries", 20, 0, 8},
	{"a full batch of retries", 0, 20, 8},
	{"a full batch of both", 20, 20, 8},
}

// Outcomes that arrive late, as on a busy machine, are settled by another transaction. A batch with room for more
// entries claims twice in most runs. The test therefore repeats each batch, and takes the cheapest.
func TestBatchesOfTheWorkerKeepTheirBudgetOfRoundTrips(t *testing.T) {
	w := newWorld(t)
	config := app.Config{DB: w.db, Models: shop.WithInvoices, Resolvers: []ports.Resolver{desk{}}}
	config.Saga.Batch = 20
	gdpr, err := app.New(config)
	must(t, err)
	runner, sessions := gdpr.Stack().Runner, gdpr.Stack().Sessions
	run := func() {
		_, err := runner.RunOnce(t.Context())
		must(t, err)
	}
	for _, batch := range batches {
		least := int64(0)
		for i := 0; i < 200 && (least == 0 || least > batch.trips); i++ {
			execute(t, w, "DELETE FROM habeas_outbox")
			enqueue(t, sessions, fmt.Sprint("retry", i), 2*batch.retries)
			execute(t, w, "UPDATE habeas_outbox SET status = 'failed', attempts = 1, next_attempt_at = enqueued_at")
			enqueue(t, sessions, fmt.Sprint("new", i), 2*batch.new)
			if batch.new+batch.retries >= config.Saga.Batch {
				run() // so that the measured batch is one of many
			}
			before := w.trips.Load()
			run()
			if trips := w.trips.Load() - before; least == 0 || trips < least {
				least = trips
			}
		}
		t.Logf("%s: %d round trips of %d", batch.name, least, batch.trips)
		if least < 1 || least > batch.trips {
			t.Errorf("%s: %d round trips, and the budget is %d", batch.name, least, batch.trips)
		}
	}
}

func execute(t *testing.T, w world, statement string) {
	t.Helper()
	databases.Execute(t, w.db, statement)
}

// enqueue adds n outbox entries.
func enqueue(t *testing.T, sessions ports.SessionFactory, name string, n int) {
	t.Helper()
	must(t, sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		for i := range n {
			id := fmt.Sprint(name, i)
			subject := fixture.MustID(t, id)
			if err := s.Outbox().Enqueue(ctx, domain.OutboxEntry{
				EntryID: id, SubjectID: subject, Resolver: "desk", Ref: domain.SubjectRef{Kind: "desk", Value: "x"},
				Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: time.Now().Add(-time.Hour),
			}); err != nil {
				return err
			}
		}
		return nil
	}))
}
