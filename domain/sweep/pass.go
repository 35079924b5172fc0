package sweep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/positions"
	"github.com/habeas-data/habeas/ports"
)

// readerOfMarks is the reader whose position all processes share: the last erasure that the pass has read. A pass is
// one run over all erased subjects.
const readerOfMarks = "sweep"

// RunOnce sweeps the next batch of a pass, and reports whether the caller should call it again immediately. A pass is
// one run over all erased subjects. All processes share the pass:
//
//   - A new pass begins if the last pass is finished and began at least one interval ago.
//   - Each batch belongs to the process that takes it. The next call, also of another process or after a restart, takes
//     the following batch.
//   - If a process takes a batch and does not finish it, the next pass sweeps it.
//
// If the sweep of a subject fails, RunOnce counts the failure and continues with the other subjects. It returns the
// first of these errors. If the database cannot be reached, RunOnce ends the batch. If the id of a subject does not fit
// the key of the subject's table, for example because the type of the key was changed, RunOnce leaves the subject alone
// and counts it in SweepReport.Skipped. It returns domain.ErrSubject if there is no other error.
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
	err = errors.Join(err, s.countLeftOver(ctx, report, batch.ends))
	return report, more && !isFatal(ctx, err), orMisfits(err, report)
}

// countLeftOver counts the subjects with due cells that a batch did not overwrite (see domain.Duty.LeftOver). The
// number of the pass so far replaces the number of the last pass at the end of the pass, or as soon as it is higher.
func (s *Sweeper) countLeftOver(ctx context.Context, of domain.SweepReport, ends bool) error {
	left := of.Failed + of.Skipped + of.Unclear
	if left == 0 && !ends {
		return nil
	}
	return s.sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
		return session.Installation().Duties().CountPass(ctx, domain.DutySweep, left, ends)
	})
}

// orMisfits returns err, or an error if the sweep has skipped subjects.
func orMisfits(err error, report domain.SweepReport) error {
	return cmp.Or(err, positions.Misfits("sweep", report.Skipped, "Their retained cells were left alone"))
}

// batch is a range of the recorded erasures.
type batch struct {
	marks   int
	misfits int // the erasures among them whose id does not fit the key of the subject's table
	due     []domain.SubjectID
	last    int64 // position of the last erasure of the batch, in the order of recording
	ends    bool  // the batch is the last one of the pass
}

// take reserves the next batch of the pass that all processes share. It also reports whether further batches of the
// pass follow.
func (s *Sweeper) take(
	ctx context.Context, session ports.Session, interval time.Duration,
) (next batch, more bool, err error) {
	position, err := session.Erased().Position(ctx, readerOfMarks)
	if err != nil {
		return batch{}, false, err
	}
	if position == 0 {
		begun, err := session.Installation().Duties().BeginPass(ctx, domain.DutySweep, s.audit.Clock.Now(), interval)
		if err != nil || !begun {
			return batch{}, false, err
		}
	}
	next, err = s.read(ctx, session, position)
	if err != nil {
		return batch{}, false, err
	}
	to := next.last
	if next.ends {
		to = 0
	}
	moved, err := session.Erased().Advance(ctx, readerOfMarks, position, to)
	if err != nil || !moved { // another process has taken the batch
		return batch{}, err == nil, err
	}
	return next, !next.ends, nil
}

// read returns the next batch: the erasures that the database has recorded after the given position. This position is
// the last erasure that was read. The first batch that is not full ends the pass. Without this rule, concurrent
// erasures, which add further subjects, could prolong the pass forever.
func (s *Sweeper) read(ctx context.Context, session ports.Session, position int64) (next batch, err error) {
	list, err := session.Erased().Marks(ctx, domain.MarkQuery{After: position, Limit: s.batch})
	if err != nil || len(list) == 0 {
		return batch{ends: true}, err
	}
	next = batch{marks: len(list), last: list[len(list)-1].Intake, ends: len(list) < s.batch}
	list = slices.DeleteFunc(list, func(mark domain.ErasureMark) bool {
		_, err := s.dataMap.Key(mark.SubjectID)
		return err != nil
	})
	next.misfits = next.marks - len(list)
	steps, err := s.stepsSince(ctx, session)
	if err != nil {
		return batch{}, err
	}
	next.due, err = session.Erased().Due(ctx, list, steps)
	return next, err
}

// runSession runs a function in a session.
type runSession = func(ctx context.Context, fn func(context.Context, ports.Session) error) error

// sweepAll sweeps the subjects of a batch, each in its own session.
func (s *Sweeper) sweepAll(ctx context.Context, do runSession, b batch) (report domain.SweepReport, failed error) {
	report = domain.SweepReport{Erased: int64(b.marks), Skipped: int64(b.misfits), Rows: map[string]int64{}}
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
		if isFatal(ctx, err) {
			return report, err
		}
	}
	return report, failed
}

// isFatal reports whether the sweep of every other subject would fail, too.
func isFatal(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, domain.ErrUnavailable))
}

// RunAll sweeps all erased subjects, independently of the shared pass. After each batch it calls progress with the
// totals so far, unless progress is nil. If the database cannot be reached or ctx ends, RunAll returns the error
// immediately. If the sweep of one subject fails, RunAll continues, and returns the first such error at the end. A
// further call begins with the first subject again. It changes nothing for the subjects that were already swept.
// Subjects whose id does not fit the key of the subject's table are treated as in RunOnce.
func (s *Sweeper) RunAll(
	ctx context.Context, progress func(domain.SweepReport),
) (report domain.SweepReport, err error) {
	report, err = s.runAll(ctx, s.sessions.Do, progress)
	left := report.Failed + report.Skipped + report.Unclear
	if isFatal(ctx, err) || err != nil && left == 0 || len(s.steps()) == 0 { // the sweep is not complete
		return report, err
	}
	return report, errors.Join(err, s.sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
		return session.Installation().Duties().SetLeftOver(ctx, domain.DutySweep, left)
	}))
}

// Rehearse does the same as RunAll but rolls back the sweep of each subject. The report counts the rows that a sweep
// would overwrite.
func (s *Sweeper) Rehearse(
	ctx context.Context, progress func(domain.SweepReport),
) (report domain.SweepReport, err error) {
	return s.runAll(ctx, s.sessions.Rehearse, progress)
}

func (s *Sweeper) runAll(
	ctx context.Context, do runSession, progress func(domain.SweepReport),
) (report domain.SweepReport, failed error) {
	report.Rows = map[string]int64{}
	for after := int64(0); len(s.steps()) > 0; {
		var next batch
		err := s.sessions.Do(ctx, func(ctx context.Context, session ports.Session) (err error) {
			next, err = s.read(ctx, session, after)
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
		if isFatal(ctx, err) {
			return report, err
		}
		if failed == nil {
			failed = err
		}
		if next.ends {
			return report, orMisfits(failed, report)
		}
		after = next.last
	}
	return report, failed
}
