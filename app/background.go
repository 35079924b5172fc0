package app

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/duties"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/domain/sweep"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

const (
	// defaultJournalInterval is the default of Config.JournalInterval.
	defaultJournalInterval = 5 * time.Second
	// workerInterval is the interval at which the worker shows other processes that it is alive.
	workerInterval = 30 * time.Second
)

// background is the work of an Integration outside of requests: the worker, and the duties that it fulfills.
type background struct {
	stack  Stack
	duties *duties.Book
	worker *worker.SagaWorker
}

// newBackground creates the worker. It does not start it.
func newBackground(s Stack, c Config) (*background, error) {
	if c.SweepInterval < 0 || c.VerifyAfter < 0 || c.JournalInterval < 0 {
		return nil, domain.Misconfigured("app", "SweepInterval, VerifyAfter and JournalInterval must not be negative")
	}
	b := &background{stack: s}
	tasks, err := b.tasks(c)
	if err != nil {
		return nil, err
	}
	pauses := map[domain.DutyName]time.Duration{}
	for _, task := range tasks {
		pauses[domain.DutyName(task.Name)] = task.Every
	}
	if b.duties, err = duties.New(duties.Config{
		Sessions: s.Sessions, Clock: s.Clock, Observer: s.Observer, Duties: pauses,
		NeedsWorker: len(s.Erases().Resolvers) > 0 || len(tasks) > 1, // one task shows that the worker is alive
	}); err != nil {
		return nil, err
	}
	b.worker, err = worker.New(s.Runner, worker.Options{
		PollInterval: c.PollInterval, Workers: c.Workers, Logger: c.Logger, Observer: s.Observer, Clock: s.Clock,
		Tasks: tasks, Begin: b.begin, TaskEnded: b.taskEnded,
	})
	return b, err
}

// begin compares the data map with the installation, and records the resolvers and whether hooks run. The worker calls
// it before its first batch. It also records the duties of this process.
func (b *background) begin(ctx context.Context) error {
	return b.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		if err := s.Installation().Started(ctx, b.stack.Erases()); err != nil {
			return err
		}
		return b.duties.Begin(ctx, s)
	})
}

// taskEnded records the run of a duty.
func (b *background) taskEnded(ctx context.Context, task string, outcome domain.Outcome) error {
	return b.duties.Ended(ctx, domain.DutyName(task), outcome)
}

// tasks returns the tasks of the worker.
func (b *background) tasks(c Config) ([]worker.Task, error) {
	tasks := []worker.Task{b.alive(c.PollInterval)}
	if c.SweepInterval > 0 {
		sweeper, err := newSweeper(b.stack, b.stack.Sessions)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, b.sweep(sweeper, c.SweepInterval))
	}
	if c.VerifyAfter > 0 {
		if b.stack.Verifier == nil {
			return nil, domain.Misconfigured("app", "VerifyAfter needs a Verifier: create Config.Stack with stack.New")
		}
		tasks = append(tasks, b.verification(c.VerifyAfter, cmp.Or(c.Logger, slog.Default())))
	}
	if c.Journal != nil {
		every := cmp.Or(c.JournalInterval, defaultJournalInterval)
		writer, err := journal.NewWriter(journal.Config{
			Sessions: b.stack.Sessions, Journal: c.Journal, Patience: domain.Duty{Every: every}.Patience(), Clock: b.stack.Clock,
			Sign: system.Signer(c.JournalKey),
		})
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, worker.Task{
			Name: string(domain.DutyJournal), Every: every,
			Run: func(ctx context.Context) (more bool, err error) {
				_, more, err = writer.RunOnce(ctx)
				return more, err
			},
		})
	}
	return tasks, nil
}

// alive returns the task that shows other processes that the worker is alive. It fails while no batch succeeds.
func (b *background) alive(pollInterval time.Duration) worker.Task {
	const missedPolls = 3
	longest := max(missedPolls*cmp.Or(pollInterval, worker.DefaultPollInterval), workerInterval)
	return worker.Task{Name: string(domain.DutyWorker), Every: workerInterval, Run: func(context.Context) (bool, error) {
		if last, _ := b.worker.Heartbeat(); b.stack.Clock.Now().Sub(last) > longest {
			return false, &domain.Error{Code: domain.ErrUnavailable, Op: "worker", Message: "no batch has succeeded recently"}
		}
		return false, nil
	}}
}

// sweep returns the task that overwrites retained cells after the end of their retention period.
func (b *background) sweep(sweeper *sweep.Sweeper, interval time.Duration) worker.Task {
	return worker.Task{
		Name:  string(domain.DutySweep),
		Every: min(interval, time.Hour), // more often than the interval, to continue a pass of another process
		Run: func(ctx context.Context) (more bool, err error) {
			report, more, err := sweeper.RunOnce(ctx, interval)
			if report.Failed+report.Skipped+report.Unclear > 0 {
				b.duties.Hurry(domain.DutySweep)
			}
			return more, err
		},
	}
}

// verification returns the worker task that verifies erasures. The task logs a warning for each table and column with
// rows or values that an erasure has left behind.
func (b *background) verification(after time.Duration, logger *slog.Logger) worker.Task {
	return worker.Task{
		Name: string(domain.DutyVerification), Every: min(after, time.Minute),
		Run: func(ctx context.Context) (more bool, err error) {
			verified, more, err := b.stack.Verifier.RunOnce(ctx, after)
			unknown := 0
			for _, verification := range verified {
				if len(verification.LeftOver) > 0 {
					b.duties.Hurry(domain.DutyVerification)
				}
				if verification.Life == domain.LifeUnknown {
					unknown++
				}
				for _, left := range verification.LeftOver {
					logger.LogAttrs(ctx, slog.LevelWarn, "habeas: an erasure left rows or values behind",
						slog.String("table", left.Table), slog.String("column", left.Column), slog.Int64("rows", left.Rows))
				}
			}
			if unknown > 0 {
				logger.LogAttrs(ctx, slog.LevelWarn, "habeas: erasures were not checked, because the ids were registered again or"+
					" restored. Call Registered, or replay the journal after a restore", slog.Int("erasures", unknown))
			}
			return more, err
		},
	}
}
