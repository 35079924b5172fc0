// Package worker drains the outbox in the background of an application.
//
//	var background *worker.SagaWorker // needs the store, which has to wake it
//	store, err := bunstore.New(db, dataMap, bunstore.Options{Enqueued: func() { background.Wake() }})
//	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap, Resolvers: systems})
//	background, err = worker.New(engines.Runner, worker.Options{})
//	background.Start()
//	defer background.Stop(0)
//
// Polling alone is enough for every entry to be carried out. Wake only makes it sooner: a store of the same process
// calls it after each commit that gave the outbox work, and package pgxlisten for the commits of other processes.
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
	defaultPollInterval = 5 * time.Second
	defaultStopTimeout  = 10 * time.Second
	DefaultWorkers      = 4 // of a runner that says when there is work for another loop
	purgeInterval       = time.Hour
	observeInterval     = time.Minute
	firstPurge          = time.Minute // after the start
)

// Runner does the work, a batch at a time. *saga.Runner is one.
type Runner interface {
	// RunOnce takes a batch of what is due and returns how much of it was settled; 0 and nil when nothing was due. When
	// ctx ends it starts nothing new, finishes what is in flight, and returns. The worker calls it Options.Workers times
	// at once, at most.
	RunOnce(ctx context.Context) (settled int, err error)
}

// A Runner can do more, as *saga.Runner does.
type (
	// waker is told of each wake, also while it runs.
	waker interface{ Wake() }
	// filler says when there may be work for another loop. Where a runner does not, a batch that settled anything does.
	filler interface{ OnFull(call func()) }
	// reporter says what came of the entries that did not succeed; see saga.Runner.OnFailure.
	reporter interface {
		OnFailure(call func(ctx context.Context, entry domain.OutboxEntry, cause error))
	}
	// purger removes what is kept no longer. It is called an hour after the last time.
	purger interface {
		Purge(ctx context.Context) (removed int64, err error)
	}
	// outboxObserver tells its observer of the state of the outbox. It is called at the start and every minute.
	outboxObserver interface {
		ObserveOutbox(ctx context.Context) error
	}
	// progressing says that a batch makes progress, and how long it can take to make some; see Heartbeat.
	progressing interface {
		OnProgress(call func())
		LongestPause() time.Duration
	}
)

// Options change what a SagaWorker does by default. The zero value is ready for use.
type Options struct {
	// PollInterval is how long the worker sleeps when nothing is due, unless it is woken, and how long a loop pauses
	// after a batch that failed, whether it is woken or not. The default is 5 s.
	PollInterval time.Duration

	// Workers is how many batches are under way at once: while one waits for the database, another one makes its calls.
	// Each uses a connection. All of them look when the worker starts. After that, one of them polls, or answers a wake,
	// and it wakes the next while its batches come back full. The calls at once to a system are for the runner to limit,
	// whatever their number. The default is 4 for a runner that says when there is work for another loop, as
	// *saga.Runner does, else 1.
	Workers int

	// StopTimeout is how long Stop waits by default. It should cover what a call to an external system usually takes.
	// The default is 10 s.
	StopTimeout time.Duration

	// Logger gets what failed, without any personal data: batches, calls to external systems with the Message of the
	// resolver's *domain.ResolverError or *domain.RetryLater (one line of at most 300 characters), and, as errors, the
	// entries that were given up. The default is slog.Default().
	Logger *slog.Logger

	// Observer is told of each batch. With an observer, the worker also has a runner observe the outbox every minute, if
	// the runner can do that, as *saga.Runner can. The default is none.
	Observer ports.Observer
	// Tasks are what the worker does beside the outbox. The default is nothing.
	Tasks []Task
	// Clock is the source of the current time for Heartbeat and for what is observed. The default is the machine's clock.
	Clock ports.Clock
}

// SagaWorker runs batches one after the other in a goroutine of its own, or in several, from Start to Stop. It is safe
// for concurrent use. Several workers, in several processes, share one outbox.
type SagaWorker struct {
	runner  Runner
	options Options
	wakes   chan struct{} // holds the one wake that no loop has answered yet
	full    bool          // the runner says itself when there may be more
	polls   polls
	pulse   pulse
	pause   time.Duration // in the progress of a batch, at most

	mu     sync.Mutex
	cancel context.CancelFunc
	ended  chan struct{} // closed once the loops that were started last have ended; nil before the first
}

// New returns a worker that is not started. The error is domain.ErrConfiguration: the runner is nil, or an option is
// negative.
func New(runner Runner, opts Options) (*SagaWorker, error) {
	if runner == nil {
		return nil, domain.Misconfigured("worker", "a runner is required")
	}
	if opts.PollInterval < 0 || opts.StopTimeout < 0 || opts.Workers < 0 {
		return nil, domain.Misconfigured("worker", "no option may be negative")
	}
	for _, task := range opts.Tasks {
		if task.Name == "" || task.Run == nil || task.Every <= 0 {
			return nil, domain.Misconfigured("worker", "a task needs a name, a function and an interval")
		}
	}
	if opts.PollInterval == 0 {
		opts.PollInterval = defaultPollInterval
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
		progressing.OnProgress(func() { w.pulse.move(w.options.Clock.Now()) })
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

// Start begins to drain the outbox, and returns at once. It does nothing while the worker is running or is still
// stopping: there are never more loops than Workers. After a complete Stop, it starts the worker again.
func (w *SagaWorker) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	w.cancel, w.ended = cancel, ended
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

// running reports whether there are loops. The caller holds mu.
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

// Stop tells the worker to end, and waits until it has, at most for timeout; zero or less stands for
// Options.StopTimeout. No further call is started, and calls in flight are finished. It returns nil once the worker
// has ended, also when it was not running.
//
// If a batch is still under way after the timeout, the error is context.DeadlineExceeded. The worker then ends by
// itself after that batch, and can be waited for again. Where the process ends before, leases heal what was not
// settled: it is called again once they have expired. Called by the runner itself, Stop can only time out.
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
		return &domain.Error{Op: "stop worker", Message: "a batch is still under way", Err: context.DeadlineExceeded}
	}
}

// Wake signals that there may be work. One sleeping loop looks at once. If all loops are busy, the first loop that
// would sleep looks again before it sleeps. A worker that is not running looks when it starts, as it always does. One
// look serves many wakes. Wake never blocks, and may be called at any time.
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
	default: // one is waiting already
	}
}
