package porttest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func outboxValueDefects() map[string]storeDefect {
	const instants, corrections = "outbox instants are in UTC and microseconds", "outbox corrections come back as JSON"
	return map[string]storeDefect{
		"the time of the attempt as given": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					claimed, err := o.good.Claim(ctx, limit, at, until, token)
					return each(claimed, err, func(e *domain.OutboxEntry) { e.LastAttemptAt = &at })
				}
			}),
			map[string]string{instants: "LastAttemptAt is"},
		},
		"bytes that are no base64": {
			changesEnqueued(func(e *domain.OutboxEntry) {
				if raw, isBytes := e.Corrections[domain.CategoryIdentity].([]byte); isBytes {
					e.Corrections[domain.CategoryIdentity] = hex.EncodeToString(raw)
				}
			}),
			map[string]string{corrections: "comes back as the string 00ff, want AP8="},
		},
		"numbers that are float64": {
			changesClaimed(func(e *domain.OutboxEntry) {
				for category, value := range e.Corrections {
					if n, isNumber := value.(json.Number); isNumber {
						e.Corrections[category], _ = n.Float64()
					}
				}
			}),
			map[string]string{corrections: "a int64 comes back as the float64 9.007199254740992e+15, want 9007199254740993"},
		},
		"numbers that have gone through a float64": {
			changesClaimed(func(e *domain.OutboxEntry) {
				for category, value := range e.Corrections {
					if n, isNumber := value.(json.Number); isNumber {
						f, _ := n.Float64()
						e.Corrections[category] = json.Number(strconv.FormatFloat(f, 'f', -1, 64))
					}
				}
			}),
			map[string]string{corrections: "a int64 comes back as the json.Number 9007199254740992, want 9007199254740993"},
		},
		"a document whose numbers are float64": {
			changesClaimed(func(e *domain.OutboxEntry) {
				if document, ok := e.Corrections[domain.CategoryTechnical].(map[string]any); ok {
					document["a"] = []any{float64(exact), nil}
				}
			}),
			map[string]string{corrections: "a domain.JSON comes back as the map"},
		},
		"refs that are the caller's": {
			func(store *Store) {
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
			},
			map[string]string{"outbox keeps copies": "an entry changed with the one that was given or returned"},
		},
		"a settlement that is the caller's": {
			func(store *Store) {
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
			},
			map[string]string{"outbox keeps copies": "the next attempt changed with the settlement"},
		},
	}
}
