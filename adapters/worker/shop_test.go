package worker_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// maxWait is the maximum duration of each wait in a test. It is far shorter than the PollInterval of the workers, so a
// poll cannot end a wait.
const maxWait = time.Minute

// process is a store, an eraser and a worker, wired as in one process of an application.
type process struct {
	store   *bunstore.Store
	eraser  *erasure.Eraser
	worker  *worker.SagaWorker
	desk    *desk
	wakes   atomic.Int64 // calls of Enqueued
	batches chan int     // gets the number of entries that each batch settled
}

// prepare creates the tables and inserts the customers 1 and 2.
func prepare(t *testing.T, db *bun.DB) {
	t.Helper()
	shop.Open(t, db, shop.Models)
	shop.AddCustomers(t, db, 2, 0)
}

// newProcess wires a process whose worker polls only once an hour.
func newProcess(t *testing.T, db *bun.DB) *process {
	t.Helper()
	p := &process{desk: &desk{erased: make(chan string, 100)}, batches: make(chan int, 100)}
	dataMap, err := bunmodels.Read(db, shop.Models, nil)
	must(t, err)
	p.store, err = bunstore.New(db, dataMap, bunstore.Options{Enqueued: func() {
		p.wakes.Add(1)
		p.worker.Wake()
	}})
	must(t, err)
	systems, clock, ids := []ports.Resolver{p.desk}, system.Clock{}, &system.IDs{}
	p.eraser, err = erasure.NewEraser(erasure.Config{Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: systems})
	must(t, err)
	runner, err := saga.NewRunner(saga.Config{Sessions: p.store, Clock: clock, IDs: ids, Resolvers: systems})
	must(t, err)
	p.worker = newWorker(t, runner, worker.Options{PollInterval: time.Hour, Observer: observed{p.batches}})
	return p
}

// start starts the worker, and returns after the first batch, which finds no entries. During the test, only a wake
// starts further batches.
func (p *process) start(t *testing.T) {
	t.Helper()
	p.worker.Start()
	t.Cleanup(func() { must(t, p.worker.Stop(maxWait)) })
	if settled := next(t, p.batches); settled != 0 {
		t.Fatalf("%d entries were there already", settled)
	}
}

// erase erases a customer in a session. If the given error is not nil, the session fails with this error after the
// erasure, so it rolls back. In this case, erase returns nil.
func (p *process) erase(ctx context.Context, customer int64, host error) error {
	subject, err := domain.NewSubject(strconv.FormatInt(customer, 10),
		domain.SubjectRef{Kind: "desk", Value: "contact-" + strconv.FormatInt(customer, 10)})
	if err != nil {
		return err
	}
	err = p.store.Do(ctx, func(ctx context.Context, s ports.Session) error {
		if _, err := p.eraser.Erase(ctx, s, subject); err != nil {
			return err
		}
		return host
	})
	if host != nil && errors.Is(err, host) {
		return nil
	}
	return err
}

// wantCompleted waits until a batch has settled an entry, and checks that the customer's erasure is complete.
func (p *process) wantCompleted(t *testing.T, customer int64) {
	t.Helper()
	for next(t, p.batches) == 0 { // a wake may find no entry, but the entry is settled before the next poll
	}
	if contact := next(t, p.desk.erased); contact != "contact-"+strconv.FormatInt(customer, 10) {
		t.Errorf("the desk erased %s", contact)
	}
	if trail := p.trail(t, customer); !slices.Equal(trail[max(len(trail)-2, 0):],
		[]domain.EventType{domain.EventErasureStepSucceeded, domain.EventErasureCompleted}) {
		t.Errorf("the trail of customer %d is %v", customer, trail)
	}
}

func (p *process) trail(t *testing.T, customer int64) []domain.EventType {
	t.Helper()
	return fixture.TrailTypes(t, p.store, fixture.MustID(t, strconv.FormatInt(customer, 10)))
}

// observed reports the result of every batch of a worker.
type observed struct{ settled chan<- int }

func (observed) Start(ctx context.Context, _ observation.Activity) (context.Context, func(observation.ActivityEnd)) {
	return ctx, nil
}

func (o observed) Observe(_ context.Context, seen observation.Observation) {
	if poll, ok := seen.(observation.PollObserved); ok {
		o.settled <- poll.Settled
	}
}

// desk is an external system that has every customer as a contact.
type desk struct{ erased chan string }

func (*desk) Name() string                          { return "desk" }
func (*desk) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (*desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (d *desk) EraseSubject(_ context.Context, ref domain.SubjectRef, _ domain.ErasureCall) (bool, error) {
	d.erased <- ref.Value
	return false, nil
}

// next receives a value. It fails the test if no value arrives within maxWait.
func next[T any](t *testing.T, values <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-values:
	case <-time.After(maxWait):
		t.Fatal("no value arrived in time")
	}
	return value
}
