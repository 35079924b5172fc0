package replay

import (
	"context"
	"math"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// restored is the instant to which the tables of the application were restored, with the position that tells apart the
// erasures before and after the restore. The zero value is a replay without such an instant.
type restored struct {
	to    time.Time
	until int64 // the highest number of an erasure before the first replay with this instant
}

// undone reports whether the erasure of the mark was made after the instant, and before the first replay with it.
func (r restored) undone(mark domain.ErasureMark) bool {
	return !r.to.IsZero() && mark.ErasedAt.After(r.to) && mark.Intake <= r.until
}

// since reports whether the erasure of the mark was made after the first replay with the instant.
func (r restored) since(mark domain.ErasureMark) bool {
	return !r.to.IsZero() && mark.Intake > r.until
}

// judge decides about a subject.
func (r restored) judge(of *lines, state domain.SubjectState) domain.ReplayVerdict {
	return domain.ReplayCase{
		Mark: state.Mark, Row: state.Evidence, Unrecorded: of.unrecorded(state.Mark), Undone: r.undone(state.Mark),
		Since: r.since(state.Mark),
	}.Verdict()
}

// restoredTo returns the position of the first replay with the instant. This replay stores the position before its
// first erasure. The sequences of habeas must be above the number floor.
func restoredTo(ctx context.Context, erased ports.ErasedStore, to time.Time, floor int64) (restored, error) {
	to = domain.Instant(to)
	reader := "restored to " + to.Format(time.RFC3339Nano)
	until, err := erased.Position(ctx, reader)
	if err != nil || until > 0 {
		return restored{to, until}, err
	}
	if until, err = highestUpTo(ctx, erased, math.MaxInt64); err != nil {
		return restored{}, err
	}
	until = max(until, floor)
	advanced, err := erased.Advance(ctx, reader, 0, until)
	if err == nil && !advanced { // another process has stored its position
		until, err = erased.Position(ctx, reader)
	}
	return restored{to, until}, err
}

// withoutLines calls fn for each batch of marks whose erasure the restore may have undone and whose subject has no line
// in the journal, until fn returns an error.
func (r *Replayer) withoutLines(
	ctx context.Context, journal *content, tables restored, fn func([]domain.ErasureMark) error,
) error {
	if tables.to.IsZero() {
		return nil
	}
	for after := int64(0); after < tables.until; {
		var found, selected []domain.ErasureMark
		err := r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			found, err = s.Erased().Marks(ctx, domain.MarkQuery{After: after, Limit: r.config.Batch})
			return err
		})
		if err != nil || len(found) == 0 {
			return err
		}
		for _, mark := range found {
			if journal.subjects[mark.SubjectID] == nil && tables.undone(mark) {
				selected = append(selected, mark)
			}
			after = mark.Intake
		}
		if len(selected) == 0 {
			continue
		}
		if err := fn(selected); err != nil {
			return err
		}
	}
	return nil
}

// withoutLine returns the subjects of marks without a line.
func withoutLine(marks []domain.ErasureMark) (subjects []replayed) {
	for _, mark := range marks {
		of := &lines{last: domain.JournalEntry{SubjectID: mark.SubjectID, ErasedAt: mark.ErasedAt}}
		subjects = append(subjects, replayed{of, mark})
	}
	return subjects
}
