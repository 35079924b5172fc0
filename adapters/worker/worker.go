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
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// The defaults of Options.
const (
	DefaultPollInterval = 5 * time.Second
	defaultStopTimeout  = 10 * time.Second
	DefaultWorkers      = 4 // for a runner with the method OnFull
	purgeInterval       = time.Hour
	observeInterval     = time.Minute
	firstPurge          = time.Minute // from the start of the worker to the first purge
)

// Runner carries out the entries of the outbox in batches. *saga.Runner implements it.
type Runner interface {
	// RunOnce claims a batch of due outbox entries, carries them out, and returns the number of settled entries. An entry
	// is settled when the outcome of its call is recorded. RunOnce returns 0 and nil if no entry was due. When ctx ends,
	// RunOnce starts no further call, finishes the calls in flight, and returns. At most Options.Workers calls of RunOnce
	// run concurrently.
	RunOnce(ctx context.Context) (settled int, err error)
}

// The optional methods of a Runner. *saga.Runner has all of them.
type (
	// waker is notified of each call of SagaWorker.Wake, even during RunOnce.
	waker interface{ Wake() }
	// filler has the method OnFull, which sets a function. The runner calls this function after each full batch, because
	// more entries may then be due. The worker sets a function that wakes another of its loops. If a runner has no method
	// OnFull, the worker wakes another loop after each batch that settled an entry.
	filler interface{ OnFull(call func()) }
	// reporter reports entries that did not succeed. See saga.Runner.OnFailure.
	reporter interface {
		OnFailure(call func(ctx context.Context, entry domain.OutboxEntry, cause error))
	}
	// purger deletes records whose retention has ended. The worker calls Purge a minute after the start and then every
	// hour.
	purger interface {
		Purge(ctx context.Context) (removed int64, err error)
	}
	// outboxObserver reports the state of the outbox to the observer of the runner. The worker calls ObserveOutbox at the
	// start and then every minute.
	outboxObserver interface {
		ObserveOutbox(ctx context.Context) error
	}
	// progressing has the method OnProgress, which sets a function. The runner calls this function at each progress of a
	// batch. LongestPause returns the longest time between two such calls. See SagaWorker.Heartbeat.
	progressing interface {
		OnProgress(call func())
		LongestPause() time.Duration
	}
)

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
	// system, because the runner limits these calls. The default is 4 for a runner with the method OnFull, such as
	// *saga.Runner, and otherwise 1.
	Workers int

	// StopTimeout is the maximum wait of Stop(0). It should be longer than a usual call to an external system. The default
	// is 10 s.
	StopTimeout time.Duration

	// Logger gets a record for each batch that failed, each call to an external system that failed, and each entry that
	// the runner abandoned. An abandoned entry is logged as an error. Records hold no personal data. If the error of a
	// resolver is a *domain.ResolverError or a *domain.RetryLater, the record has its Message, as one line of at most 300
	// characters. The default is slog.Default().
	Logger *slog.Logger

	// Observer is notified of each batch. If Observer is set and the runner has the method ObserveOutbox, as *saga.Runner
	// has, the worker calls that method every minute. The default is nil, so that the worker reports nothing.
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
	runner  Runner
	options Options
	wakes   chan struct{} // holds at most one pending wake
	full    bool          // the runner has the method OnFull
	polls   polls
	pulse   pulse
	begun   begun
	pause   time.Duration // a batch that makes no progress for longer counts as stuck

	mu     sync.Mutex
	cancel context.CancelFunc
	ended  chan struct{} // closed when all loops and tasks of the last Start have ended; nil before the first Start
}

// New returns a worker. The caller starts it with Start. The error is domain.ErrConfiguration if the runner is nil, an
// option is negative, or a task lacks a name, a function or an interval.
func New(runner Runner, opts Options) (*SagaWorker, error) {
	if runner == nil {
		return nil, domain.Misconfigured("worker", "a runner is required")
	}
	if opts.PollInterval < 0 || opts.StopTimeout < 0 || opts.Workers < 0 {
		return nil, domain.Misconfigured("worker", "PollInterval, StopTimeout and Workers must not be negative")
	}
	for _, task := range opts.Tasks {
		if task.Name == "" || task.Run == nil || task.Every <= 0 {
			return nil, domain.Misconfigured("worker", "Tasks: each task needs a Name, a Run function and a positive Every")
		}
	}
	if opts.PollInterval == 0 {
		opts.PollInterval = DefaultPollInterval
	}
	if opts.StopTimeout == 0 {
		opts.StopTimeout = defaultStopTimeout
	}
	if opts.Clock == nil {
		opts.Clock = system.Clock{}
	}
	w := &SagaWorker{runner: runner, options: opts, wakes: make(chan struct{}, 1), pause: longestPause}
	if progressing, ok := runner.(progressing); ok {
		w.pause = progressing.LongestPause()
		progressing.OnProgress(func() { w.pulse.progress(w.options.Clock.Now()) })
	}
	filler, full := runner.(filler)
	if full {
		w.full = true
		filler.OnFull(w.next)
	}
	if opts.Workers == 0 {
		w.options.Workers = 1
		if full {
			w.options.Workers = DefaultWorkers
		}
	}
	if reporter, ok := runner.(reporter); ok {
		reporter.OnFailure(w.logEntry)
	}
	return w, nil
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
	if purger, ok := w.runner.(purger); ok {
		loops.Go(func() { w.purge(ctx, purger) })
	}
	if observer, ok := w.runner.(outboxObserver); ok && w.options.Observer != nil {
		loops.Go(func() { w.observe(ctx, observer) })
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
// ended, but not longer than timeout. If timeout is zero or negative, Stop waits for Options.StopTimeout. It returns
// nil if the worker has ended or was not running.
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
		timeout = w.options.StopTimeout
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
	if runner, ok := w.runner.(waker); ok {
		runner.Wake()
	}
	w.next()
}

// next wakes one loop.
func (w *SagaWorker) next() {
	select {
	case w.wakes <- struct{}{}:
	default: // a wake is pending already
	}
}
