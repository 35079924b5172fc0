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

// erasedStore implements ports.ErasedStore.
type erasedStore struct{ *session }

func (s *session) Erased() ports.ErasedStore { return erasedStore{s} }

// Marks implements ports.ErasedStore. Each erasure gives the mark a higher intake number than all other marks have.
// Marks become visible in the order of their numbers, because only one session writes at a time. A reader that
// continues after the highest number that it has read therefore misses no mark.
func (s erasedStore) Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error) {
	state, err := s.read(ctx, false)
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

// Lives implements ports.ErasedStore.
func (s erasedStore) Lives(ctx context.Context, marks []domain.ErasureMark) ([]domain.Life, error) {
	state, err := s.read(ctx, false)
	if err != nil {
		return nil, err
	}
	lives := make([]domain.Life, len(marks))
	for i, mark := range marks {
		lives[i] = mark.Life(state.evidence(mark.SubjectID))
	}
	return lives, nil
}

func (s erasedStore) Find(ctx context.Context, ids []domain.SubjectID) (found []domain.ErasureMark, err error) {
	state, err := s.read(ctx, false)
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

// RecallRow implements ports.ErasedStore.
func (s erasedStore) RecallRow(ctx context.Context, id domain.SubjectID, addedAt time.Time) error {
	state, err := s.write(ctx)
	if err != nil || addedAt.IsZero() || !slices.Contains(s.undated, id) {
		return err
	}
	mark := state.erasures[id]
	mark.AddedAt = domain.Instant(addedAt)
	state.erasures = withEntry(state.erasures, id, mark)
	return nil
}

// mark stores the erasure mark of a subject. It replaces the mark of an earlier erasure of the same subject, and
// increases the number of erasures in the mark.
func (s *state) mark(mark domain.ErasureMark) {
	s.intake++
	s.lastErasedAt = mark.ErasedAt
	before := s.erasures[mark.SubjectID]
	mark.Erasures, mark.Intake = before.Erasures+1, s.intake
	mark.ConsentsUntil, mark.RestrictionsUntil = before.ConsentsUntil, before.RestrictionsUntil
	mark.RequestsUntil = before.RequestsUntil
	if mark.AddedAt.IsZero() {
		mark.AddedAt = before.AddedAt
	}
	s.erasures = withEntry(s.erasures, mark.SubjectID, mark)
}

func (s erasedStore) Position(ctx context.Context, reader string) (int64, error) {
	if err := domain.CheckReader(reader); err != nil {
		return 0, err
	}
	state, err := s.read(ctx, false)
	if err != nil {
		return 0, err
	}
	return state.positions[reader], nil
}

func (s erasedStore) Advance(ctx context.Context, reader string, expected, next int64) (advanced bool, err error) {
	if err := domain.CheckReader(reader); err != nil {
		return false, err
	}
	state, err := s.write(ctx)
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
