package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// DutyStore keeps the state of the background duties (see domain.Duty) of one data map. All processes share it. A
// method that changes a duty locks it until the session ends.
type DutyStore interface {
	// Read returns the duties that have an Every, in the order of domain.DutyNames.
	Read(ctx context.Context) ([]domain.Duty, error)

	// Begin stores Every and Began of a duty. If the duty has a Began already, and duty.Began is not nil, the former
	// stays, because a process that starts again and again still never succeeds.
	Begin(ctx context.Context, duty domain.Duty) error

	// Ended stores Every of a duty, and LastSuccess and LastFailure with LastError, unless later ones are stored.
	Ended(ctx context.Context, duty domain.Duty) error

	// BeginPass stores the begin of a pass (a run over all erased subjects) and returns true, if the last pass of the duty
	// began at least an interval before. It ignores a pass that began after the instant at, because the clock of another
	// process may have been wrong. If several sessions begin a pass at the same time, BeginPass returns true in one of
	// them.
	BeginPass(ctx context.Context, name domain.DutyName, at time.Time, interval time.Duration) (begun bool, err error)

	// CountPass adds n to the leftovers of the current pass of a duty. LeftOver becomes their sum as soon as the sum is
	// higher, and also at the end of the pass. The next pass counts from 0.
	CountPass(ctx context.Context, name domain.DutyName, n int64, ends bool) error

	// AddLeftOver adds n, which may be negative, to LeftOver of a duty. The sum is not less than 0.
	AddLeftOver(ctx context.Context, name domain.DutyName, n int64) error

	// SetLeftOver replaces LeftOver of a duty.
	SetLeftOver(ctx context.Context, name domain.DutyName, n int64) error
}
