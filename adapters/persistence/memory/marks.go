package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type erasureMarks struct{ *session }

var _ ports.MarkReader = (*session)(nil)

// Marks implements ports.MarkReader.
func (s *session) Marks() ports.ErasureMarks { return erasureMarks{s} }

// Marks implements ports.ErasureMarks. An erasure mark is the row that records the erasure of a subject. Each erasure
// gives the mark a higher intake number than all other marks have. Marks become visible in the order of their numbers,
// because only one session writes at a time. A reader that continues after the highest number that it has read
// therefore misses no mark.
func (m erasureMarks) Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error) {
	if query.Limit <= 0 {
		return nil, m.usable()
	}
	state, err := m.read(ctx, false)
	if err != nil {
		return nil, err
	}
	query.Since, query.Until = domain.Instant(query.Since), domain.Instant(query.Until)
	marks := slices.SortedFunc(maps.Values(state.erasures), func(a, b domain.ErasureMark) int {
		return cmp.Compare(a.Intake, b.Intake)
	})
	after := query.After
	for i, mark := range marks {
		if mark.Intake > query.After {
			marks[i].After, after = after, mark.Intake
		}
	}
	marks = slices.DeleteFunc(marks, func(mark domain.ErasureMark) bool { return !query.Matches(mark) })
	return upTo(query.Limit, marks), nil
}

// Lives implements ports.ErasureMarks.
func (m erasureMarks) Lives(ctx context.Context, marks []domain.ErasureMark) ([]domain.Life, error) {
	state, err := m.read(ctx, false)
	if err != nil {
		return nil, err
	}
	lives := make([]domain.Life, len(marks))
	for i, mark := range marks {
		lives[i] = mark.Life(state.evidence(mark.SubjectID))
	}
	return lives, nil
}

func (m erasureMarks) Find(ctx context.Context, ids []domain.SubjectID) (found []domain.ErasureMark, err error) {
	state, err := m.read(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		mark := state.erasures[id]
		if mark.Erasures > 0 && !slices.Contains(found, mark) {
			found = append(found, mark)
		}
	}
	return found, nil
}

// mark stores the erasure mark of a subject. It replaces the mark of an earlier erasure of the same subject, and
// increases the number of erasures in the mark.
func (s *state) mark(mark domain.ErasureMark) {
	s.intake++
	before := s.erasures[mark.SubjectID]
	mark.Erasures, mark.Intake = before.Erasures+1, s.intake
	mark.ConsentsUntil, mark.RestrictionsUntil = before.ConsentsUntil, before.RestrictionsUntil
	if mark.AddedAt.IsZero() {
		mark.AddedAt = before.AddedAt
	}
	s.erasures = withEntry(s.erasures, mark.SubjectID, mark)
}

// lastErasedAt returns the instant of the erasure mark with the highest intake number, or zero.
func (s *state) lastErasedAt() time.Time {
	var last domain.ErasureMark
	for _, mark := range s.erasures {
		if mark.Erasures > 0 && mark.Intake > last.Intake {
			last = mark
		}
	}
	return last.ErasedAt
}

func (m erasureMarks) Position(ctx context.Context, reader string) (int64, error) {
	if err := domain.CheckReader(reader); err != nil {
		return 0, err
	}
	state, err := m.read(ctx, false)
	if err != nil {
		return 0, err
	}
	return state.positions[reader], nil
}

func (m erasureMarks) Advance(ctx context.Context, reader string, expected, next int64) (advanced bool, err error) {
	if err := domain.CheckReader(reader); err != nil {
		return false, err
	}
	state, err := m.write(ctx)
	if err != nil || state.positions[reader] != expected {
		return false, err
	}
	state.positions = withEntry(state.positions, reader, next)
	return true, nil
}

// withEntry returns a copy of the map m in which the key has the value.
func withEntry[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	m = maps.Clone(m)
	if m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}
