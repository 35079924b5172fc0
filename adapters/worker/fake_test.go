package worker_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// quiet is a logger that discards its records, for tests in which batches fail on purpose.
var quiet = slog.New(slog.DiscardHandler)

// fake is a runner that calls a function of the test for each batch. It records when each batch began, and how many
// batches ran concurrently. Each batch that settles an entry is full, unless the test reports the full batches itself.
type fake struct {
	batch       func(ctx context.Context, n int) (settled int, err error) // n counts from 1; nil: no entry is due
	reportsFull bool

	began     time.Time
	mu        sync.Mutex
	at        []time.Duration
	now, most int
	events    saga.Events // of the last batch
	woken     int
}

func newFake(batch func(ctx context.Context, n int) (int, error)) *fake {
	return &fake{batch: batch, began: time.Now()}
}

func (f *fake) RunWith(ctx context.Context, events saga.Events) (settled int, err error) {
	f.mu.Lock()
	f.events = events
	f.at = append(f.at, time.Since(f.began))
	n := len(f.at)
	f.now++
	f.most = max(f.most, f.now)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.now--
	}()
	if f.batch == nil {
		return 0, nil
	}
	if settled, err = f.batch(ctx, n); settled > 0 && err == nil && !f.reportsFull {
		events.Full()
	}
	return settled, err
}

func (f *fake) batches() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.at)
}

func (f *fake) Wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.woken++
}

func (*fake) Purge(context.Context) (int64, error) { return 0, nil }
func (*fake) ObserveOutbox(context.Context) error  { return nil }
func (*fake) LongestPause() time.Duration          { return 15 * time.Minute }

// wantAt checks when batches began.
func (f *fake) wantAt(t *testing.T, want ...time.Duration) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Equal(f.at, want) {
		t.Errorf("batches began at %v, want %v", f.at, want)
	}
}

// wantOneLoop checks that batches never ran concurrently.
func (f *fake) wantOneLoop(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.most != 1 {
		t.Errorf("%d batches ran concurrently", f.most)
	}
}

// bubble runs a test in a synctest bubble. The clock of the bubble advances only while every goroutine of the test is
// blocked.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// pass advances the clock, and waits until every goroutine is blocked again.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// started returns a worker that runs until the test ends.
func started(t *testing.T, runner worker.Engine, opts worker.Options) *worker.SagaWorker {
	t.Helper()
	w := newWorker(t, runner, opts)
	w.Start()
	t.Cleanup(func() { must(t, w.Stop(time.Hour)) })
	return w
}

// newWorker returns a worker with one loop, unless opts has another number.
func newWorker(t *testing.T, runner worker.Engine, opts worker.Options) *worker.SagaWorker {
	t.Helper()
	opts.Workers = max(opts.Workers, 1)
	w, err := worker.NewOn(runner, opts)
	must(t, err)
	return w
}

// records is a log in memory.
type records struct{ fixture.Log }

func (r *records) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(r, nil)) }

var must = fixture.Must
