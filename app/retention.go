package app

import (
	"context"
	"io"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/domain/sweep"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// Retention has the methods that go through all erased subjects.
type Retention struct {
	stack      Stack
	sessions   ports.SessionFactory
	journalKey []byte // see Config.JournalKey
}

// Sweep overwrites expired cells, which are retained cells after the end of their retention period. It goes through all
// erased subjects. See sweep.Sweeper.RunAll, also for errors. If Config.SweepInterval is set, the worker does the same
// work in batches. The parameter progress may be nil.
func (o *Retention) Sweep(
	ctx context.Context, progress func(domain.SweepReport),
) (report domain.SweepReport, err error) {
	sweeper, err := newSweeper(o.stack, o.sessions)
	if err != nil {
		return report, err
	}
	return sweeper.RunAll(ctx, progress)
}

// RehearseSweep counts the rows in which Sweep would overwrite cells, and changes nothing. See sweep.Sweeper.Rehearse.
func (o *Retention) RehearseSweep(
	ctx context.Context, progress func(domain.SweepReport),
) (report domain.SweepReport, err error) {
	sweeper, err := newSweeper(o.stack, o.sessions)
	if err != nil {
		return report, err
	}
	return sweeper.Rehearse(ctx, progress)
}

// Journal writes one line to out for the last erasure of each subject, if the bounds select it, and returns the number
// of lines. See journal.Write. With the number of the last line of a journal as From.After, it continues this journal
// without a gap. If Config.Journal is set, the worker appends the lines of new erasures to that journal.
func (o *Retention) Journal(ctx context.Context, out io.Writer, from journal.From) (written int64, err error) {
	from.Sign = system.Signer(o.journalKey)
	return journal.Write(ctx, o.sessions, out, from)
}

// ReplayOptions are the settings of Replay.
type ReplayOptions = replay.Options

// Replay reads the lines of a journal after the database was restored from a backup, and repeats the erasures that the
// restore has undone. See replay.Replayer.Replay. Call it before users can reach the application again.
func (o *Retention) Replay(
	ctx context.Context, lines io.Reader, options ReplayOptions,
) (report domain.ReplayReport, err error) {
	replayer, err := replay.NewReplayer(replay.Config{
		Sessions: o.sessions, Clock: o.stack.Clock, IDs: o.stack.IDs, Erase: o.stack.Eraser.Repeat, Refs: options.Refs,
		Workers: options.Workers, Expect: options.Expect, RestoredTo: options.RestoredTo,
		Sign: system.Signer(o.journalKey),
	})
	if err != nil {
		return report, err
	}
	return replayer.Replay(ctx, lines, options.Progress)
}

func newSweeper(s Stack, sessions ports.SessionFactory) (*sweep.Sweeper, error) {
	return sweep.NewSweeper(sweep.Config{
		Sessions: sessions, Clock: s.Clock, IDs: s.IDs, DataMap: s.DataMap, Plan: s.Eraser.Plan(),
	})
}
