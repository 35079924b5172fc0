package porttest

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func operateDefects() map[string]storeDefect {
	return map[string]storeDefect{
		"counts without zeros": {
			changesOutbox(func(o *brokenOutbox) {
				o.counts = func(ctx context.Context) (map[domain.OutboxStatus]int64, error) {
					counts, err := o.good.Counts(ctx)
					for status, n := range counts {
						if n == 0 {
							delete(counts, status)
						}
					}
					return counts, err
				}
			}),
			map[string]string{
				"outbox counts have every status": "an empty outbox counts map[], want map[abandoned:0 failed:0 in_flight:0",
			},
		},
		"abandoned, the youngest first": {
			changesOutbox(func(o *brokenOutbox) {
				o.abandoned = func(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
					found, err := o.good.Abandoned(ctx, after, limit)
					slices.Reverse(found)
					return found, err
				}
			}),
			map[string]string{
				"outbox abandoned entries come by age":    "abandoned are [h g f e d c b a], want [a b c d e f g h",
				"outbox abandoned entries come in pages":  "entries come",
				"outbox requeue leaves the rest alone":    "still abandoned are [h f e d c b a], want all but g",
				"outbox withdraw abandons rectifications": "then abandoned are [in flight pending failed], want [failed pending in",
			},
		},
		"abandoned without a limit": {
			changesOutbox(func(o *brokenOutbox) {
				o.abandoned = func(ctx context.Context, after *domain.OutboxEntry, _ int) ([]domain.OutboxEntry, error) {
					return o.good.Abandoned(ctx, after, 1000)
				}
			}),
			map[string]string{
				"outbox abandoned entries come in pages": "a b c d e f g h",
			},
		},
		"abandoned from the first one on": {
			changesOutbox(func(o *brokenOutbox) {
				o.abandoned = func(ctx context.Context, _ *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
					return o.good.Abandoned(ctx, nil, limit)
				}
			}),
			map[string]string{
				"outbox abandoned entries come in pages": "entries come [a",
			},
		},
		"abandoned after an instant": {
			changesOutbox(func(o *brokenOutbox) {
				o.abandoned = func(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
					if after != nil {
						after = &domain.OutboxEntry{EnqueuedAt: after.EnqueuedAt, EntryID: "~"}
					}
					return o.good.Abandoned(ctx, after, limit)
				}
			}),
			map[string]string{
				"outbox abandoned entries come in pages": "entries come",
			},
		},
		"a requeue that keeps the attempts": {
			changesOutbox(func(o *brokenOutbox) {
				o.requeue = func(ctx context.Context, ids []string) ([]domain.OutboxEntry, error) {
					found, err := o.good.Requeue(ctx, ids)
					return each(found, err, func(e *domain.OutboxEntry) { e.Attempts = 1 })
				}
			}),
			map[string]string{
				"outbox requeue makes erasures new": "has Attempts 1, want 0",
			},
		},
		"a requeue in the order asked": {
			changesOutbox(func(o *brokenOutbox) {
				o.requeue = func(ctx context.Context, ids []string) ([]domain.OutboxEntry, error) {
					found, err := o.good.Requeue(ctx, ids)
					slices.SortFunc(found, func(a, b domain.OutboxEntry) int {
						return slices.Index(ids, a.EntryID) - slices.Index(ids, b.EntryID)
					})
					return found, err
				}
			}),
			map[string]string{
				"outbox requeue makes erasures new": "requeued are [a b c], want [c a b",
			},
		},
		"a requeue of all": {
			changesOutbox(func(o *brokenOutbox) {
				o.requeue = func(ctx context.Context, _ []string) ([]domain.OutboxEntry, error) {
					abandoned, err := o.good.Abandoned(ctx, nil, 1000)
					if err != nil {
						return nil, err
					}
					return o.good.Requeue(ctx, entryIDs(abandoned))
				}
			}),
			map[string]string{
				"outbox abandoned erasures hold completion back": "2 entries are due after the requeue, want 1",
				"outbox requeue leaves the rest alone":           "requeued",
			},
		},
		"a requeue of rectifications": {
			changesOutbox(func(o *brokenOutbox) {
				o.requeue = func(ctx context.Context, ids []string) ([]domain.OutboxEntry, error) {
					requeued, err := o.good.Requeue(ctx, ids)
					if err != nil {
						return nil, err
					}
					abandoned, err := o.good.Abandoned(ctx, nil, 1000)
					for _, entry := range abandoned {
						if slices.Contains(ids, entry.EntryID) {
							requeued = append(requeued, entry)
						}
					}
					return requeued, err
				}
			}),
			map[string]string{
				"outbox requeue leaves the rest alone": "requeued are [g b f], want only g, an abandoned erasure",
			},
		},
		"a requeue that takes nothing up": {
			changesOutbox(func(o *brokenOutbox) {
				o.requeue = func(context.Context, []string) ([]domain.OutboxEntry, error) { return nil, nil }
			}),
			map[string]string{
				"outbox abandoned erasures hold completion back": "0 entries are due after the requeue, want 1",
				"outbox requeue makes erasures new":              "ed are [], want [c a b",
				"outbox requeue leaves the rest alone":           "abandoned",
			},
		},
		"a withdrawal of nothing": {
			changesOutbox(func(o *brokenOutbox) {
				o.withdraw = func(context.Context, domain.SubjectID) ([]domain.OutboxEntry, error) { return nil, nil }
			}),
			map[string]string{
				"outbox withdraw abandons rectifications":   "failed pending in flight",
				"outbox withdraw leaves others alone":       "left are [an erasure of the subject another number another tenant the",
				"outbox withdrawn entry has lost its lease": "a withdrawn entry",
			},
		},
		"a withdrawal that tells nothing": {
			changesOutbox(func(o *brokenOutbox) {
				o.withdraw = func(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
					_, err := o.good.Withdraw(ctx, id)
					return nil, err
				}
			}),
			map[string]string{
				"outbox withdraw abandons rectifications": "withdrawn are [], want [failed pending in flight] by their age",
			},
		},
		"a withdrawal from everybody": {
			changesOutbox(func(o *brokenOutbox) {
				o.withdraw = func(ctx context.Context, id domain.SubjectID) (found []domain.OutboxEntry, err error) {
					for _, elements := range [][]string{{"acme"}, {"acme", "77"}, {"acmf", "7"}, {"acme", "7", "7"}} {
						other, _ := domain.NewSubjectID(elements...)
						if _, err := o.good.Withdraw(ctx, other); err != nil {
							return nil, err
						}
					}
					return o.good.Withdraw(ctx, id)
				}
			}),
			map[string]string{
				"outbox withdraw leaves others alone": "left are [an erasure of the subject], want [an erasure of the subject",
			},
		},
		"a withdrawal of erasures": {
			changesOutbox(func(o *brokenOutbox) {
				o.withdraw = func(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
					due, err := o.good.Claim(ctx, 1000, noon.Add(10_000*time.Hour), noon, "withdrawn")
					if err != nil {
						return nil, err
					}
					for _, entry := range due {
						s := givesBack(entry)
						if entry.Operation == domain.OperationErase && entry.SubjectID == id {
							s = abandons(entry)
						}
						if _, err := o.good.Settle(ctx, []domain.Settlement{s}); err != nil {
							return nil, err
						}
					}
					return o.good.Withdraw(ctx, id)
				}
			}),
			map[string]string{
				"outbox withdraw leaves others alone": "left are [another number another tenant the tenant longer], want [an",
			},
		},
		"a purge of nothing": {
			changesOutbox(func(o *brokenOutbox) {
				o.purge = func(context.Context, time.Time, int) (int64, error) { return 0, nil }
			}),
			map[string]string{
				"outbox purge removes what succeeded": "0 entries were removed, want 2",
				"outbox purge leaves the rest alone":  "0 entries were removed, want 1",
				"outbox purge keeps to the limit":     "5 entries",
			},
		},
		"a purge without a limit": {
			changesOutbox(func(o *brokenOutbox) {
				o.purge = func(ctx context.Context, before time.Time, _ int) (int64, error) {
					return o.good.Purge(ctx, before, 1000)
				}
			}),
			map[string]string{
				"outbox purge keeps to the limit": "up to 0 of 5 entries: 5 were removed",
			},
		},
		"a purge that includes the instant": {
			changesOutbox(func(o *brokenOutbox) {
				o.purge = func(ctx context.Context, before time.Time, limit int) (int64, error) {
					return o.good.Purge(ctx, before.Add(tick), limit)
				}
			}),
			map[string]string{
				"outbox purge leaves the rest alone": "the instant",
			},
		},
		"a purge of what is open": {
			changesOutbox(func(o *brokenOutbox) {
				o.purge = func(ctx context.Context, before time.Time, limit int) (int64, error) {
					due, err := o.good.Claim(ctx, 1000, before, before, "purged")
					for _, entry := range due {
						if _, err := o.good.Settle(ctx, []domain.Settlement{succeeds(entry)}); err != nil {
							return 0, err
						}
					}
					if err != nil {
						return 0, err
					}
					return o.good.Purge(ctx, before, limit)
				}
			}),
			map[string]string{
				"outbox purge leaves the rest alone": "an entry is gone that was not enqueued before the instant",
			},
		},
		"a purge that counts wrongly": {
			changesOutbox(func(o *brokenOutbox) {
				o.purge = func(ctx context.Context, before time.Time, limit int) (int64, error) {
					_, err := o.good.Purge(ctx, before, limit)
					return int64(limit), err
				}
			}),
			map[string]string{
				"outbox purge removes what succeeded": "entries were removed, want 2",
				"outbox purge leaves the rest alone":  "entries were removed",
				"outbox purge keeps to the limit":     "were removed",
			},
		},
	}
}
