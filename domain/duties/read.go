package duties

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Read returns the duties that the database and this process know, in the order of domain.DutyNames. It only reads.
func (b *Book) Read(ctx context.Context, s ports.Session) (all []domain.Duty, err error) {
	if all, err = read(ctx, s); err != nil {
		return nil, err
	}
	return b.Merge(all), nil
}

// Merge adds what this process knows to duties that were read before. It reads nothing. The first call begins the
// duties of this process if no worker has begun them, because a worker that is never started fulfills none. If a worker
// is needed (see Config.NeedsWorker), and no worker of any process has ever run, the result has a domain.DutyWorker
// that never began. The argument nil means that nothing was read.
func (b *Book) Merge(stored []domain.Duty) []domain.Duty {
	all := []domain.Duty{}
	now := domain.Instant(b.config.Clock.Now())
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, every := range b.config.Duties {
		if _, known := b.local[name]; !known && every > 0 && name != domain.DutyWorker {
			b.local[name] = domain.Duty{Name: name, Every: every, Began: &now}
		}
	}
	for _, name := range domain.DutyNames() {
		local, known := b.local[name]
		merged, isStored := local, false
		for _, duty := range stored {
			if duty.Name == name {
				merged, isStored = duty.Merge(local), true
			}
		}
		if name == domain.DutyWorker && b.config.NeedsWorker && stored != nil && !known && !isStored {
			merged, known = domain.Duty{Name: name, Every: b.config.Duties[name]}, true
		}
		if known || isStored {
			all = append(all, merged)
		}
	}
	return all
}

// read reads the duties that the database has. Its result is not nil if there is no error.
func read(ctx context.Context, s ports.Session) ([]domain.Duty, error) {
	stored, err := s.Installation().Duties().Read(ctx)
	if err != nil {
		return nil, err
	}
	all := append([]domain.Duty{}, stored...)
	for i, duty := range all {
		if duty.LastFailure != nil && !slices.Contains(domain.Outcomes(), duty.LastError) { // of a later version
			all[i].LastError = domain.OutcomeInternal
		}
	}
	return all, nil
}
