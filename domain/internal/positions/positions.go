// Package positions has what the readers of the marks have in common (see ports.ErasedStore.Position).
package positions

import (
	"context"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

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
