package memory

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// subjectStore implements ports.SubjectStore.
type subjectStore struct{ *session }

// Lock implements ports.SubjectStore. It takes the write lock of the session, which also locks the subject.
func (s subjectStore) Lock(ctx context.Context, id domain.SubjectID, at time.Time) (time.Time, error) {
	state, err := s.writeOf(ctx, id)
	if err != nil {
		return time.Time{}, err
	}
	state.mark(domain.ErasureMark{
		SubjectID: id, ErasedAt: domain.ErasureInstant(at, time.Now(), state.lastErasedAt), AddedAt: state.addedAt(id),
	})
	s.marked = append(s.marked, id)
	if state.addedAt(id).IsZero() {
		s.undated = append(s.undated, id)
	}
	return state.erasures[id].ErasedAt, nil
}

// LockToRectify implements ports.SubjectStore. It takes the write lock of the session, which also locks the subject.
func (s subjectStore) LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	state, err := s.writeOf(ctx, id)
	if err != nil {
		return domain.SubjectState{}, err
	}
	return state.subjectState(id), nil
}
