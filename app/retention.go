package app

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/domain/sweep"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// defaultJournalInterval is the default of Config.JournalInterval.
const defaultJournalInterval = 5 * time.Second

// Sweep overwrites expired cells, which are retained cells after the end of their retention period. It checks every
// erased subject before it returns. See sweep.Sweeper.RunAll. If Config.Sweep is set, the worker does the same work in
// batches. The parameter progress may be nil.
func (i *Integration) Sweep(
	ctx context.Context, progress func(domain.SweepReport),
) (report domain.SweepReport, err error) {
	sweeper, err := i.newSweeper(i.sessions)
	if err != nil {
		return report, err
	}
	return sweeper.RunAll(ctx, progress)
}

// RehearseSweep counts the cells that Sweep would overwrite, and changes nothing. See sweep.Sweeper.Rehearse.
func (i *Integration) RehearseSweep(
	ctx context.Context, progress func(domain.SweepReport),
) (report domain.SweepReport, err error) {
	sweeper, err := i.newSweeper(i.sessions)
	if err != nil {
		return report, err
	}
	return sweeper.Rehearse(ctx, progress)
}

// Journal writes one line for each erasure to a writer, and returns the number of lines. If the given time is not zero,
// Journal omits the erasures that were made more than a day before this time. See journal.From.Since. If Config.Journal
// is set, the worker appends the lines of new erasures to that journal. To continue a journal, use JournalFrom.
func (i *Integration) Journal(ctx context.Context, out io.Writer, since time.Time) (written int64, err error) {
	return i.JournalFrom(ctx, out, journal.From{Since: since})
}

// JournalFrom writes one line for each erasure that the bounds select, and returns the number of lines. See
// journal.Write. With From.After, the number of the last line of a journal, it continues this journal exactly.
func (i *Integration) JournalFrom(ctx context.Context, out io.Writer, from journal.From) (written int64, err error) {
	return journal.Write(ctx, i.sessions, out, from)
}

// ReplayOptions are the settings of Replay.
type ReplayOptions = replay.Options

// Replay reads the lines of a journal and erases their subjects again, after the database was restored from a backup.
// See replay.Replayer.Replay. Call it before users can reach the application again.
func (i *Integration) Replay(
	ctx context.Context, lines io.Reader, o ReplayOptions,
) (report domain.ReplayReport, err error) {
	replayer, err := replay.NewReplayer(replay.Config{
		Sessions: i.sessions, Clock: i.clock, IDs: i.ids, Erase: i.stack.Eraser.Erase, Refs: o.Refs, Workers: o.Workers,
		Installation: o.Installation, Expect: o.Expect, RestoredTo: o.RestoredTo,
	})
	if err != nil {
		return report, err
	}
	return replayer.Replay(ctx, lines, o.Progress)
}

func (i *Integration) newSweeper(sessions ports.SessionFactory) (*sweep.Sweeper, error) {
	return sweep.NewSweeper(sweep.Config{
		Sessions: sessions, Clock: i.clock, IDs: i.ids, DataMap: i.stack.DataMap, Plan: i.stack.Eraser.Plan(),
	})
}

// tasks returns the tasks of the worker.
func (i *Integration) tasks(c Config) (tasks []worker.Task, err error) {
	i.clock = cmp.Or(c.Clock, ports.Clock(system.Clock{}))
	i.ids = cmp.Or(c.IDs, ports.IDSource(&system.IDs{}))
	if c.Sweep < 0 || c.VerifyAfter < 0 || c.JournalInterval < 0 {
		return nil, domain.Misconfigured("app", "Sweep, VerifyAfter and JournalInterval must not be negative")
	}
	tasks = append(tasks, i.alive(c.PollInterval))
	if c.Sweep > 0 {
		sweeper, err := i.newSweeper(i.stack.Sessions)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, worker.Task{
			Name:  string(domain.DutySweep),
			Every: min(c.Sweep, time.Hour), // more often than Sweep, to continue a pass of another process
			Run: func(ctx context.Context) (more bool, err error) {
				report, more, err := sweeper.RunOnce(ctx, c.Sweep)
				if report.Failed+report.Skipped+report.Unclear > 0 {
					i.duties.Hurry(domain.DutySweep)
				}
				return more, err
			},
		})
	}
	if c.VerifyAfter > 0 {
		if i.stack.Verifier == nil {
			return nil, domain.Misconfigured("app", "VerifyAfter needs a Verifier: create Config.Stack with stack.New")
		}
		tasks = append(tasks, i.verification(c))
	}
	if c.Journal != nil {
		writer, err := journal.NewWriter(journal.Config{Sessions: i.stack.Sessions, Journal: c.Journal})
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, worker.Task{
			Name: string(domain.DutyJournal), Every: cmp.Or(c.JournalInterval, defaultJournalInterval),
			Run: func(ctx context.Context) (more bool, err error) {
				_, more, err = writer.RunOnce(ctx)
				return more, err
			},
		})
	}
	return tasks, nil
}

// verification returns the worker task that verifies erasures. The task logs a warning for each table and column with
// rows or values that an erasure has left behind.
func (i *Integration) verification(c Config) worker.Task {
	logger := c.Logger
	if logger == nil {
		logger = slog.Default()
	}
	return worker.Task{
		Name: string(domain.DutyVerification), Every: min(c.VerifyAfter, time.Minute),
		Run: func(ctx context.Context) (more bool, err error) {
			verified, more, err := i.stack.Verifier.RunOnce(ctx, c.VerifyAfter)
			unknown := 0
			for _, verification := range verified {
				if len(verification.LeftOver) > 0 {
					i.duties.Hurry(domain.DutyVerification)
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
