package sweep

import (
	"context"
	"errors"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// The readers whose positions say how far the pass has come that the processes share, and when it began, in seconds.
const (
	readerOfMarks = "sweep"
	readerOfBegin = "sweep began"
)

// RunOnce sweeps the next batch of the pass that all processes share, and reports whether there is more to do at once.
// A pass goes through the marks of all erasures. It begins if the last one began the interval ago, or earlier, and goes
// on where the last batch of any process ended, also after a restart. Each batch is for one process. A batch that a
// process took and did not finish waits for the next pass.
//
// A subject whose sweep fails is counted, and does not keep the others waiting; the first of these errors comes back.
// If the database cannot be reached, the batch ends.
func (s *Sweeper) RunOnce(
	ctx context.Context, interval time.Duration,
) (report domain.SweepReport, more bool, err error) {
	if len(s.steps()) == 0 {
		return domain.SweepReport{}, false, nil
	}
	var batch batch
	err = s.sessions.Do(ctx, func(ctx context.Context, session ports.Session) (err error) {
		batch, more, err = s.take(ctx, session, interval)
		return err
	})
	if err != nil {
		return domain.SweepReport{}, false, err
	}
	report, err = s.sweepAll(ctx, s.sessions.Do, batch)
	return report, more && !stops(ctx, err), err
}

// batch is a part of the marks, by the subjects that are due.
type batch struct {
	marks int
	due   []domain.SubjectID
	last  int64 // in the order of intake
	ends  bool  // there were no more marks
}

// take takes the next batch of the pass that all processes share.
func (s *Sweeper) take(
	ctx context.Context, session ports.Session, interval time.Duration,
) (next batch, more bool, err error) {
	marks, err := ports.MarksOf(session)
	if err != nil {
		return batch{}, false, err
	}
	position, err := marks.Position(ctx, readerOfMarks)
	if err != nil {
		return batch{}, false, err
	}
	if position == 0 {
		if begins, err := s.begins(ctx, marks, interval); err != nil || !begins {
			return batch{}, false, err
		}
	}
	next, err = s.read(ctx, session, marks, position)
	if err != nil {
		return batch{}, false, err
	}
	to := next.last
	if next.ends {
		to = 0
	}
	moved, err := marks.Advance(ctx, readerOfMarks, position, to)
	if err != nil || !moved { // another process has taken it
		return batch{}, err == nil, err
	}
	return next, !next.ends, nil
}

// begins reports whether a pass is to begin, and notes that it does. A clock that was ahead does not keep it waiting.
func (s *Sweeper) begins(ctx context.Context, marks ports.ErasureMarks, interval time.Duration) (bool, error) {
	now := s.audit.Clock.Now()
	last, err := marks.Position(ctx, readerOfBegin)
	if err != nil {
		return false, err
	}
	if since := now.Sub(time.Unix(last, 0)); since >= 0 && since < interval {
		return false, nil
	}
	return marks.Advance(ctx, readerOfBegin, last, now.Unix())
}

// read returns the batch behind a place in the order of intake. One that is not full is the last one: erasures that go
// on meanwhile do not keep a pass from its end.
func (s *Sweeper) read(
	ctx context.Context, session ports.Session, marks ports.ErasureMarks, after int64,
) (next batch, err error) {
	list, err := marks.Marks(ctx, domain.MarkQuery{After: after, Limit: s.batch})
	if err != nil || len(list) == 0 {
		return batch{ends: true}, err
	}
	sweeper, err := ports.SweeperOf(session.Subjects())
	if err != nil {
		return batch{}, err
	}
	due, err := sweeper.Due(ctx, list, s.steps())
	return batch{len(list), due, list[len(list)-1].Intake, len(list) < s.batch}, err
}

// doFunc opens sessions.
type doFunc = func(ctx context.Context, fn func(context.Context, ports.Session) error) error

// sweepAll sweeps the subjects of a batch, each in a session of its own.
func (s *Sweeper) sweepAll(ctx context.Context, do doFunc, b batch) (report domain.SweepReport, failed error) {
	report = domain.SweepReport{Erased: int64(b.marks), Rows: map[string]int64{}}
	for _, id := range b.due {
		var swept domain.SweepReport
		err := do(ctx, func(ctx context.Context, session ports.Session) (err error) {
			swept, err = s.Sweep(ctx, session, id)
			return err
		})
		switch {
		case err == nil:
			report.Add(swept)
			continue
		case failed == nil:
			failed = err
		}
		report.Failed++
		if stops(ctx, err) {
			return report, err
		}
	}
	return report, failed
}

// stops reports whether no other subject would fare better.
func stops(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, domain.ErrUnavailable))
}

// RunAll sweeps all subjects that were erased, beside the pass that processes share. It calls progress, if there is
// one, after each batch, with all that was done so far. It ends with an error that keeps it from going on; the error of
// a single subject comes back at the end. Another call begins at the first mark again, and finds what is left.
func (s *Sweeper) RunAll(
	ctx context.Context, progress func(domain.SweepReport),
) (report domain.SweepReport, err error) {
	return s.runAll(ctx, s.sessions.Do, progress)
}

// Rehearse does as RunAll does, and takes back the sweep of each subject: it counts what a sweep would do now. Returns
// domain.ErrConfiguration if the store is no ports.Rehearser.
func (s *Sweeper) Rehearse(
	ctx context.Context, progress func(domain.SweepReport),
) (report domain.SweepReport, err error) {
	rehearser, err := ports.RehearserOf(s.sessions)
	if err != nil {
		return report, err
	}
	return s.runAll(ctx, rehearser.Rehearse, progress)
}

func (s *Sweeper) runAll(
	ctx context.Context, do doFunc, progress func(domain.SweepReport),
) (report domain.SweepReport, failed error) {
	report.Rows = map[string]int64{}
	for after := int64(0); len(s.steps()) > 0; {
		var next batch
		err := s.sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
			marks, err := ports.MarksOf(session)
			if err == nil {
				next, err = s.read(ctx, session, marks, after)
			}
			return err
		})
		if err != nil {
			return report, err
		}
		swept, err := s.sweepAll(ctx, do, next)
		report.Add(swept)
		if progress != nil {
			progress(report)
		}
		if stops(ctx, err) {
			return report, err
		}
		if failed == nil {
			failed = err
		}
		if next.ends {
			return report, failed
		}
		after = next.last
	}
	return report, nil
}
