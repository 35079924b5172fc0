package memory

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// dutyStore implements ports.DutyStore.
type dutyStore struct{ *session }

func (s installationStore) Duties() ports.DutyStore { return dutyStore(s) }

// duty is a duty, with the current pass over all erased subjects.
type duty struct {
	domain.Duty
	passBegan    time.Time
	passLeftOver int64
}

func (s dutyStore) Read(ctx context.Context) (all []domain.Duty, err error) {
	state, err := s.read(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, name := range domain.DutyNames() {
		if known := state.duties[name]; known.Every > 0 {
			all = append(all, known.Duty)
		}
	}
	return all, nil
}

func (s dutyStore) Begin(ctx context.Context, begun domain.Duty) error {
	return s.change(ctx, begun.Name, func(d *duty) {
		if d.Every = begun.Every; d.Began == nil || begun.Began == nil {
			d.Began = instant(begun.Began)
		}
	})
}

func (s dutyStore) Ended(ctx context.Context, run domain.Duty) error {
	return s.change(ctx, run.Name, func(d *duty) {
		run.Began, run.LastSuccess, run.LastFailure = d.Began, instant(run.LastSuccess), instant(run.LastFailure)
		left := d.LeftOver
		d.Duty = run.Merge(d.Duty)
		d.LeftOver = left
	})
}

func (s dutyStore) BeginPass(
	ctx context.Context, name domain.DutyName, at time.Time, interval time.Duration,
) (begun bool, err error) {
	at = domain.Instant(at)
	err = s.change(ctx, name, func(d *duty) {
		if since := at.Sub(d.passBegan); d.passBegan.IsZero() || since < 0 || since >= interval {
			d.passBegan, begun = at, true
		}
	})
	return begun, err
}

func (s dutyStore) CountPass(ctx context.Context, name domain.DutyName, n int64, ends bool) error {
	return s.change(ctx, name, func(d *duty) {
		d.passLeftOver += n
		if ends || d.passLeftOver > d.LeftOver {
			d.LeftOver = d.passLeftOver
		}
		if ends {
			d.passLeftOver = 0
		}
	})
}

func (s dutyStore) AddLeftOver(ctx context.Context, name domain.DutyName, n int64) error {
	return s.change(ctx, name, func(d *duty) { d.LeftOver = max(0, d.LeftOver+n) })
}

func (s dutyStore) SetLeftOver(ctx context.Context, name domain.DutyName, n int64) error {
	return s.change(ctx, name, func(d *duty) { d.LeftOver = n })
}

// change changes a duty.
func (s dutyStore) change(ctx context.Context, name domain.DutyName, fn func(*duty)) error {
	state, err := s.write(ctx)
	if err != nil {
		return err
	}
	changed := state.duties[name]
	changed.Name = name
	fn(&changed)
	state.duties = withEntry(state.duties, name, changed)
	return nil
}

func instant(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	stored := domain.Instant(*at)
	return &stored
}
