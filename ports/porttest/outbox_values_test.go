package porttest

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func outboxValueDefects() defects {
	const instants, corrections = "outbox instants are in UTC and microseconds", "outbox corrections come back as JSON"
	return defects{
		"the time of the attempt as given": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
				claimed, err := o.good.Claim(ctx, limit, at, until, token)
				return each(claimed, err, func(e *domain.OutboxEntry) { e.LastAttemptAt = &at })
			}
		}), found{"LastAttemptAt is": {outboxInstantsAreInUTCAndMicroseconds}}},
		"bytes that are no base64": {changesEnqueued(func(e *domain.OutboxEntry) {
			if raw, isBytes := e.Corrections[domain.CategoryIdentity].([]byte); isBytes {
				e.Corrections[domain.CategoryIdentity] = hex.EncodeToString(raw)
			}
		}), found{"comes back as the string 00ff, want AP8=": {outboxCorrectionsComeBackAsJSON}}},
		"whole numbers that are no float64": {changesClaimed(func(e *domain.OutboxEntry) {
			for category, value := range e.Corrections {
				if n, isNumber := value.(float64); isNumber && n == float64(int64(n)) {
					e.Corrections[category] = int64(n)
				}
			}
		}), found{"a int64 comes back as the int64 12, want 12": {outboxCorrectionsComeBackAsJSON}}},
		"refs that are the caller's": {func(store *Store) {
			var seen remembered
			changesOutbox(func(o *brokenOutbox) {
				o.enqueue = func(ctx context.Context, entries ...domain.OutboxEntry) error {
					seen.note(entries...)
					return o.good.Enqueue(ctx, entries...)
				}
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					claimed, err := o.good.Claim(ctx, limit, at, until, token)
					return each(claimed, err, func(e *domain.OutboxEntry) {
						if given, ok := seen.get(e.EntryID); ok {
							e.Ref.Extra = given.Ref.Extra
						}
					})
				}
			})(store)
		}, found{"an entry changed with the one that was given or returned": {outboxKeepsCopies}}},
		"a settlement that is the caller's": {func(store *Store) {
			var next *time.Time
			changesOutbox(func(o *brokenOutbox) {
				o.settle = func(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
					if len(settlements) == 1 {
						next = settlements[0].NextAttemptAt
					}
					return o.good.Settle(ctx, settlements)
				}
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					if limit == 1000 && next != nil && next.Equal(noon) && at.Equal(noon) {
						at = noon.Add(time.Hour)
					}
					return o.good.Claim(ctx, limit, at, until, token)
				}
			})(store)
		}, found{"the next attempt changed with the settlement": {outboxKeepsCopies}}},
	}
}
