package porttest

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func operateDefects() defects {
	return defects{
		"counts without zeros": {changesOutbox(func(o *brokenOutbox) {
			o.counts = func(ctx context.Context) (map[domain.OutboxStatus]int64, error) {
				counts, err := o.good.Counts(ctx)
				for status, n := range counts {
					if n == 0 {
						delete(counts, status)
					}
				}
				return counts, err
			}
		}), found{"an empty outbox counts map[], want map[abandoned:0 failed:0 in_flight:0": {outboxCountsHaveEveryStatus}}},
		"abandoned, the youngest first": {changesOutbox(func(o *brokenOutbox) {
			o.abandoned = func(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
				found, err := o.good.Abandoned(ctx, after, limit)
				slices.Reverse(found)
				return found, err
			}
		}), found{
			"abandoned are [h g f e d c b a], want [a b c d e f g h": {outboxAbandonedEntriesComeByAge},
			"entries come": {outboxAbandonedEntriesComeInPages},
			"still abandoned are [h f e d c b a], want all but g":                    {outboxRequeueLeavesTheRestAlone},
			"then abandoned are [in flight pending failed], want [failed pending in": {outboxWithdrawAbandonsRectifications},
		}},
		"abandoned without a limit": {changesOutbox(func(o *brokenOutbox) {
			o.abandoned = func(ctx context.Context, after *domain.OutboxEntry, _ int) ([]domain.OutboxEntry, error) {
				return o.good.Abandoned(ctx, after, 1000)
			}
		}), found{"a b c d e f g h": {outboxAbandonedEntriesComeInPages}}},
		"abandoned from the first one on": {changesOutbox(func(o *brokenOutbox) {
			o.abandoned = func(ctx context.Context, _ *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
				return o.good.Abandoned(ctx, nil, limit)
			}
		}), found{"entries come [a": {outboxAbandonedEntriesComeInPages}}},
		"abandoned after an instant": {changesOutbox(func(o *brokenOutbox) {
			o.abandoned = func(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
				if after != nil {
					after = &domain.OutboxEntry{EnqueuedAt: after.EnqueuedAt, EntryID: "~"}
				}
				return o.good.Abandoned(ctx, after, limit)
			}
		}), found{"entries come": {outboxAbandonedEntriesComeInPages}}},
		"a requeue that keeps the attempts": {changesOutbox(func(o *brokenOutbox) {
			o.requeue = func(ctx context.Context, ids []string) ([]domain.OutboxEntry, error) {
				found, err := o.good.Requeue(ctx, ids)
				return each(found, err, func(e *domain.OutboxEntry) { e.Attempts = 1 })
			}
		}), found{"has Attempts 1, want 0": {outboxRequeueMakesErasuresNew}}},
		"a requeue in the order asked": {changesOutbox(func(o *brokenOutbox) {
			o.requeue = func(ctx context.Context, ids []string) ([]domain.OutboxEntry, error) {
				found, err := o.good.Requeue(ctx, ids)
				slices.SortFunc(found, func(a, b domain.OutboxEntry) int {
					return slices.Index(ids, a.EntryID) - slices.Index(ids, b.EntryID)
				})
				return found, err
			}
		}), found{"requeued are [a b c], want [c a b": {outboxRequeueMakesErasuresNew}}},
		"a requeue of all": {changesOutbox(func(o *brokenOutbox) {
			o.requeue = func(ctx context.Context, _ []string) ([]domain.OutboxEntry, error) {
				abandoned, err := o.good.Abandoned(ctx, nil, 1000)
				if err != nil {
					return nil, err
				}
				return o.good.Requeue(ctx, entryIDs(abandoned))
			}
		}), found{
			"2 entries are due after the requeue, want 1": {outboxAbandonedErasuresHoldCompletionBack},
			"requeued": {outboxRequeueLeavesTheRestAlone},
		}},
		"a requeue of rectifications": {changesOutbox(func(o *brokenOutbox) {
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
		}), found{"requeued are [g b f], want only g, an abandoned erasure": {outboxRequeueLeavesTheRestAlone}}},
		"a requeue that takes nothing up": {changesOutbox(func(o *brokenOutbox) {
			o.requeue = func(context.Context, []string) ([]domain.OutboxEntry, error) { return nil, nil }
		}), found{
			"0 entries are due after the requeue, want 1": {outboxAbandonedErasuresHoldCompletionBack},
			"ed are [], want [c a b":                      {outboxRequeueMakesErasuresNew}, "abandoned": {outboxRequeueLeavesTheRestAlone},
		}},
		"a withdrawal of nothing": {changesOutbox(func(o *brokenOutbox) {
			o.withdraw = func(context.Context, domain.SubjectID) ([]domain.OutboxEntry, error) { return nil, nil }
		}), found{
			"failed pending in flight": {outboxWithdrawAbandonsRectifications},
			"left are [an erasure of the subject another number another tenant the": {outboxWithdrawLeavesOthersAlone},
			"a withdrawn entry": {outboxWithdrawnEntryHasLostItsLease},
		}},
		"a withdrawal that tells nothing": {changesOutbox(func(o *brokenOutbox) {
			o.withdraw = func(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
				_, err := o.good.Withdraw(ctx, id)
				return nil, err
			}
		}), found{"withdrawn are [], want [failed pending in flight] by their age": {outboxWithdrawAbandonsRectifications}}},
		"a withdrawal from everybody": {changesOutbox(func(o *brokenOutbox) {
			o.withdraw = func(ctx context.Context, id domain.SubjectID) (found []domain.OutboxEntry, err error) {
				for _, elements := range [][]string{{"acme"}, {"acme", "77"}, {"acmf", "7"}, {"acme", "7", "7"}} {
					other, _ := domain.NewSubjectID(elements...)
					if _, err := o.good.Withdraw(ctx, other); err != nil {
						return nil, err
					}
				}
				return o.good.Withdraw(ctx, id)
			}
		}), found{
			"left are [an erasure of the subject], want [an erasure of the subject": {outboxWithdrawLeavesOthersAlone},
		}},
		"a withdrawal of erasures": {changesOutbox(func(o *brokenOutbox) {
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
		}), found{"left are [another number another tenant the tenant longer], want [an": {outboxWithdrawLeavesOthersAlone}}},
		"a purge of nothing": {changesOutbox(func(o *brokenOutbox) {
			o.purge = func(context.Context, time.Time, int) (int64, error) { return 0, nil }
		}), found{
			"0 entries were removed, want 2": {outboxPurgeRemovesWhatSucceeded},
			"0 entries were removed, want 1": {outboxPurgeLeavesTheRestAlone}, "5 entries": {outboxPurgeKeepsToTheLimit},
		}},
		"a purge without a limit": {changesOutbox(func(o *brokenOutbox) {
			o.purge = func(ctx context.Context, before time.Time, _ int) (int64, error) {
				return o.good.Purge(ctx, before, 1000)
			}
		}), found{"up to 0 of 5 entries: 5 were removed": {outboxPurgeKeepsToTheLimit}}},
		"a purge that includes the instant": {changesOutbox(func(o *brokenOutbox) {
			o.purge = func(ctx context.Context, before time.Time, limit int) (int64, error) {
				return o.good.Purge(ctx, before.Add(tick), limit)
			}
		}), found{"the instant": {outboxPurgeLeavesTheRestAlone}}},
		"a purge of what is open": {changesOutbox(func(o *brokenOutbox) {
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
		}), found{"an entry is gone that was not enqueued before the instant": {outboxPurgeLeavesTheRestAlone}}},
		"a purge that counts wrongly": {changesOutbox(func(o *brokenOutbox) {
			o.purge = func(ctx context.Context, before time.Time, limit int) (int64, error) {
				_, err := o.good.Purge(ctx, before, limit)
				return int64(limit), err
			}
		}), found{
			"entries were removed, want 2": {outboxPurgeRemovesWhatSucceeded},
			"entries were removed":         {outboxPurgeLeavesTheRestAlone}, "were removed": {outboxPurgeKeepsToTheLimit},
		}},
	}
}
