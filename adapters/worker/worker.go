// Package worker carries out outbox entries (calls to external systems) in the background of an application. Its
// goroutines call the saga.Runner for one batch of entries after the other.
//
//	var background *worker.SagaWorker // declared before the store, because the store wakes it
//	store, err := bunstore.New(db, dataMap, bunstore.Options{Enqueued: func() { background.Wake() }})
//	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap, Resolvers: systems})
//	background, err = worker.New(engines.Runner, worker.Options{})
//	background.Start()
//	defer background.Stop(0)
//
// Polling is sufficient to carry out every entry. SagaWorker.Wake shortens the delay. A store of the same process calls
// Wake after each commit that added entries to the outbox. Package pgxlisten calls Wake after such commits of other
// processes.
package worker

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// The defaults of Options.
const (
	DefaultPollInterval = 5 * time.Second
	defaultStopTimeout  = 10 * time.Second // longer than a usual call to an external system
	DefaultWorkers      = 4
	purgeInterval       = time.Hour
	observeInterval     = time.Minute
	firstPurge          = time.Minute // from the start of the worker to the first purge
)

// engine has the methods of *saga.Runner that a worker calls. Tests replace it.
type engine interface {
	RunWith(ctx context.Context, events saga.Events) (settled int, err error)
	Wake()
	Purge(ctx context.Context) (removed int64, err error)
	ObserveOutbox(ctx context.Context) error
	LongestPause() time.Duration
}

// Options are the settings of a SagaWorker. The zero value is ready for use.
type Options struct {
	// PollInterval is the longest time that the worker sleeps while no entry is due. A call of Wake ends the sleep
	// earlier. After a batch that failed, a loop also pauses for PollInterval, and Wake does not shorten this pause. The
	// default is 5 s.
	PollInterval time.Duration

	// Workers is the number of loops, and thus of concurrent batches. With several loops, one batch can call external
	// systems while another batch waits for the database. Each batch uses a database connection.
	//
	// Every loop runs a batch when the worker starts. Afterwards, one loop runs a batch at each poll or call of Wake. If
	// this batch is full, the loop wakes the next loop. Workers does not limit the concurrent calls to one external
	// system, because the runner limits these calls. The default is 4.
	Workers int

	// Logger gets a record for each batch that failed, each call to an external system that failed, and each entry that
	// the runner abandoned. An abandoned entry is logged as an error. Records hold no personal data. If the error of a
	// resolver is a *domain.ResolverError or a *domain.RetryLaterError, the record has its Message, as one line of at most
	// 300 characters. The default is slog.Default().
	Logger *slog.Logger

	// Observer is notified of each batch. If it is set, the worker also calls saga.Runner.ObserveOutbox every minute,
	// which notifies the observer of the runner. The default is nil, so that the worker reports nothing.
	Observer ports.Observer
	// Begin is called before the first batch and before the first part of each task after Start. While it fails, the
	// worker starts no batch and no task, and calls Begin again after PollInterval. It must be safe for concurrent use.
	// The default is nil: the worker starts immediately.
	Begin func(ctx context.Context) error
	// Tasks run in addition to the outbox. The default is nil.
	Tasks []Task
	// TaskEnded is called after each part of a task with its outcome, unless the worker stops. If it fails, the worker
	// logs the error. It must be safe for concurrent use. The default is nil: no call.
	TaskEnded func(ctx context.Context, task string, outcome domain.Outcome) error
	// Clock is the source of the current time for Heartbeat and for observations. The default is the clock of the machine.
	Clock ports.Clock
}

// SagaWorker runs batches of outbox entries in one or more loops, from Start to Stop. Each loop has its own goroutine
// and runs one batch at a time. A SagaWorker is safe for concurrent use. Several workers, also of several processes,
// can share one outbox.
type SagaWorker struct {
	runner  engine
	options Options
	wakes   chan struct{} // holds at most one pending wake
	polls   polls
	pulse   pulse
	begun   begun

	mu     sync.Mutex
	cancel context.CancelFunc
	ended  chan struct{} // closed when all loops and tasks of the last Start have ended; nil before the first Start
}

// New returns a worker. The caller starts it with Start. The error is domain.ErrConfiguration if the runner is nil, an
// option is negative, or a task lacks a name, a function or an interval.
func New(runner *saga.Runner, opts Options) (*SagaWorker, error) {
	if runner == nil {
		return nil, domain.Misconfigured("worker", "a runner is required")
	}
	return newWorker(runner, opts)
}

func newWorker(runner engine, opts Options) (*SagaWorker, error) {
	if opts.PollInterval < 0 || opts.Workers < 0 {
		return nil, domain.Misconfigured("worker", "PollInterval and Workers must not be negative")
	}
	for _, task := range opts.Tasks {
		if task.Name == "" || task.Run == nil || task.Every <= 0 {
			return nil, domain.Misconfigured("worker", "Tasks: each task needs a Name, a Run function and a positive Every")
		}
	}
	opts.PollInterval = cmp.Or(opts.PollInterval, DefaultPollInterval)
	opts.Clock = cmp.Or(opts.Clock, ports.Clock(system.Clock{}))
	opts.Workers = cmp.Or(opts.Workers, DefaultWorkers)
	return &SagaWorker{runner: runner, options: opts, wakes: make(chan struct{}, 1)}, nil
}

// events returns the functions that the runner calls during a batch.
func (w *SagaWorker) events() saga.Events {
	return saga.Events{
		Progress: func() { w.pulse.progress(w.options.Clock.Now()) }, Full: w.next, Failed: w.logEntry,
	}
}

// Start starts the loops and tasks, and returns immediately. It does nothing while the worker is running or is still
// stopping, so that there are never more loops than Workers. After Stop has returned nil, Start starts the worker
// again.
func (w *SagaWorker) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	w.cancel, w.ended = cancel, ended
	w.begun.reset()
	w.pulse.start(w.options.Clock.Now())
	var loops sync.WaitGroup
	for range w.options.Workers {
		loops.Go(func() { w.run(ctx) })
	}
	loops.Go(func() { w.every(ctx, firstPurge, purgeInterval, "habeas: purge of the outbox failed", w.purge) })
	if w.options.Observer != nil {
		const failed = "habeas: the outbox could not be observed"
		loops.Go(func() { w.every(ctx, 0, observeInterval, failed, w.runner.ObserveOutbox) })
	}
	for _, task := range w.options.Tasks {
		loops.Go(func() { w.repeat(ctx, task) })
	}
	go func() {
		defer close(ended)
		loops.Wait()
	}()
}

// running reports whether a loop or a task is running. The caller must hold mu.
func (w *SagaWorker) running() bool {
	if w.ended == nil {
		return false
	}
	select {
	case <-w.ended:
		return false
	default:
		return true
	}
}

// Stop ends the worker: it starts no further call, and finishes the calls in flight. Stop waits until the worker has
// ended, but not longer than timeout. If timeout is zero or negative, Stop waits at most 10 s. It returns nil if the
// worker has ended or was not running.
//
// If a batch or a task still runs after the timeout, the error is context.DeadlineExceeded. The worker then ends after
// that batch or task. To wait for the end, call Stop again. If the process ends before an entry is settled, the lease
// of the entry expires, and another worker calls the external system again. Do not call Stop in a runner or a task:
// Stop would wait for the end of its caller, and always time out.
func (w *SagaWorker) Stop(timeout time.Duration) error {
	w.mu.Lock()
	ended := w.ended
	if ended != nil {
		w.cancel()
	}
	w.mu.Unlock()
	if ended == nil {
		return nil
	}
	if timeout <= 0 {
		timeout = defaultStopTimeout
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
		return &domain.Error{Op: "stop worker", Message: "a batch or a task is still running", Err: context.DeadlineExceeded}
	}
}

// Wake signals that outbox entries may be due. One sleeping loop runs a batch immediately. If every loop is busy, the
// first loop that would sleep runs another batch instead. If the worker is not running, Wake has no effect. It is then
// not needed, because every loop runs a batch at the start. One batch can serve many calls of Wake. Wake never blocks,
// and may be called at any time.
func (w *SagaWorker) Wake() {
	w.runner.Wake()
	w.next()
}

// next wakes one loop.
func (w *SagaWorker) next() {
	select {
	case w.wakes <- struct{}{}:
	default: // a wake is pending already
	}
}
