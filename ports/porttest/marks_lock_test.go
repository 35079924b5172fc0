package porttest

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// brokenLock is a defective ErasureLock. Each field that is set causes a defect.
type brokenLock struct {
	ports.SubjectStore
	lock    ports.ErasureLock
	late    time.Duration // ErasedAt returns a later instant
	others  bool          // ErasedAt returns an instant for each subject
	forgets bool          // RecallRow does nothing
}

// locksWith is a defect: the sessions have a defective ErasureLock.
func locksWith(broken brokenLock) func(*Store) {
	return changesSessions(func(s ports.Session) replacedStores {
		changed := broken
		changed.SubjectStore = s.Subjects()
		changed.lock, _ = changed.SubjectStore.(ports.ErasureLock)
		return replacedStores{Session: s, subjects: changed}
	})
}

func (b brokenLock) ErasedAt(id domain.SubjectID) (time.Time, bool) {
	at, locked := b.lock.ErasedAt(id)
	return at.Add(b.late), locked || b.others
}

func (b brokenLock) RecallRow(ctx context.Context, id domain.SubjectID, addedAt time.Time) error {
	if b.forgets {
		return nil
	}
	return b.lock.RecallRow(ctx, id, addedAt)
}

// The methods of ports.ErasureLock are promoted from no field, because SubjectStore does not have them.
func (c counted) ErasedAt(id domain.SubjectID) (time.Time, bool) {
	lock, has := c.SubjectStore.(ports.ErasureLock)
	if !has {
		return time.Time{}, false
	}
	return lock.ErasedAt(id)
}

func (c counted) RecallRow(ctx context.Context, id domain.SubjectID, addedAt time.Time) error {
	lock, has := c.SubjectStore.(ports.ErasureLock)
	if !has {
		return nil
	}
	return lock.RecallRow(ctx, id, addedAt)
}
