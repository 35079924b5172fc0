package duties

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/positions"
	"github.com/habeas-data/habeas/ports"
)

// Read returns the duties that the database and this process know, in the order of domain.DutyNames. It only reads.
func (b *Book) Read(ctx context.Context, s ports.Session) (all []domain.Duty, err error) {
	all = []domain.Duty{}
	for _, name := range domain.DutyNames() {
		duty, known, err := read(ctx, s.Erased(), name)
		if err != nil {
			return nil, err
		}
		if known {
			all = append(all, duty)
		}
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

// read reads a duty. It returns false if no worker has the duty.
func read(
	ctx context.Context, erased ports.ErasedStore, name domain.DutyName,
) (duty domain.Duty, known bool, err error) {
	every, err := erased.Position(ctx, key(name, "every"))
	if err != nil || every <= 0 {
		return duty, false, err
	}
	duty = domain.Duty{Name: name, Every: time.Duration(every)}
	var class int64
	for _, field := range []struct {
		name string
		into func(int64)
	}{
		{key(name, "began"), instant(&duty.Began)},
		{key(name, "succeeded"), instant(&duty.LastSuccess)},
		{key(name, "failed"), instant(&duty.LastFailure)},
		{key(name, "failed as"), func(stored int64) { class = stored }},
		{positions.LeftOver(name), func(stored int64) { duty.LeftOver = stored }},
	} {
		stored, err := erased.Position(ctx, field.name)
		if err != nil {
			return duty, false, err
		}
		field.into(stored)
	}
	if duty.LastFailure != nil {
		duty.LastError = domain.OutcomeInternal // of a later version
		if outcomes := domain.Outcomes(); class > 0 && class < int64(len(outcomes)) {
			duty.LastError = outcomes[class]
		}
	}
	return duty, true, nil
}

// instant returns a function that sets an instant from the microseconds that are stored. 0 means none.
func instant(to **time.Time) func(int64) {
	return func(stored int64) {
		if stored != 0 {
			at := time.UnixMicro(stored).UTC()
			*to = &at
		}
	}
}
