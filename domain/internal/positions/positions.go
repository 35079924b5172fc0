// Package positions changes numbers that all processes share: the positions of readers (see ports.ErasedStore).
//
// These names are in use:
//
//   - "sweep", "verification", and "journal" with the name of the journal: the intake number of the last mark that was
//     read
//   - "sweep began": the start of the sweep in Unix seconds
//   - "retention duties": a hash of the retention duties of the data map
//   - "retention duties since": the time of their last change in Unix seconds
//   - "registrations": 1 since the first call of Registered
//   - "restored to" and a time: the intake number at the first replay to this time
//   - "duty", its name, and "every", "began", "succeeded", "failed", "failed as", "left over" or "left over so far":
//     the state of a background duty; see package duties
package positions

import (
	"context"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// attempts is how often Change tries to replace a number that other sessions change concurrently.
const attempts = 5

// LeftOver returns the name under which the database stores the leftovers of a duty (see domain.Duty).
func LeftOver(duty domain.DutyName) string { return "duty " + string(duty) + " left over" }

// Misfits returns domain.ErrSubject if a reader has passed over n erasures, because the ids of their subjects do not
// fit the key of the subject's table. The effect on these erasures ends the message.
func Misfits(op string, n int64, effect string) error {
	if n == 0 {
		return nil
	}
	return &domain.Error{
		Code: domain.ErrSubject, Op: op, Message: "erased subjects whose id does not fit the key of the subject's table: " +
			strconv.FormatInt(n, 10) + ". " + effect,
	}
}

// Behind returns domain.ErrBehind if there is a mark after a position whose instant is before the limit. Its caller has
// read all marks that ports.ErasedStore.Marks returns. An open session has therefore held up this one for too long.
func Behind(ctx context.Context, erased ports.ErasedStore, op string, position int64, limit time.Time) error {
	held, err := erased.Marks(ctx, domain.MarkQuery{After: position, Until: limit, Limit: 1, Unsettled: true})
	if err != nil || len(held) == 0 {
		return err
	}
	return &domain.Error{
		Code: domain.ErrBehind, Op: op, Message: "an open transaction that has erased a subject holds up later erasures",
	}
}

// Change replaces the number that is stored under a name by next(number), and returns the new number. It changes
// nothing if both are equal. Change returns domain.ErrConflict if other sessions are faster several times.
func Change(ctx context.Context, erased ports.ErasedStore, name string, next func(int64) int64) (int64, error) {
	for range attempts {
		stored, err := erased.Position(ctx, name)
		if err != nil {
			return 0, err
		}
		wanted := next(stored)
		if wanted == stored {
			return stored, nil
		}
		if moved, err := erased.Advance(ctx, name, stored, wanted); moved || err != nil {
			return wanted, err
		}
	}
	return 0, &domain.Error{Code: domain.ErrConflict, Op: "positions", Message: "other sessions change the same number"}
}

// Set stores a number under a name.
func Set(ctx context.Context, erased ports.ErasedStore, name string, number int64) error {
	_, err := Change(ctx, erased, name, func(int64) int64 { return number })
	return err
}

// Add adds n to the number that is stored under a name, and returns the sum. The sum is not less than 0.
func Add(ctx context.Context, erased ports.ErasedStore, name string, n int64) (int64, error) {
	return Change(ctx, erased, name, func(stored int64) int64 { return max(0, stored+n) })
}
