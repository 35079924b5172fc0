package porttest

import (
	"maps"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func operateDefects() defects {
	return defects{
		"counts without zeros": {brokenOutbox{counts: func(c outboxCall) (map[domain.OutboxStatus]int64, error) {
			counts, err := c.counts()
			maps.DeleteFunc(counts, func(_ domain.OutboxStatus, n int64) bool { return n == 0 })
			return counts, err
		}}.breaks, found{"counted are map[], want map[abandoned:0 failed:0 in_flight:0": {outboxCountsHaveEveryStatus}}},
		"abandoned, the youngest first": {
			brokenOutbox{abandoned: func(c outboxCall) (entries, error) { return reversed(c.abandoned()) }}.breaks,
			found{"abandoned are [h g f e d c b a], want [a b c d e f g h": {outboxAbandonedEntriesComeByAge}},
		},
		"abandoned without a limit": {
			brokenOutbox{abandoned: func(c outboxCall) (entries, error) { c.limit = 1000; return c.abandoned() }}.breaks,
			found{"a b c d e f g h": {outboxAbandonedEntriesComeInPages}},
		},
		"abandoned from the first one on": {
			brokenOutbox{abandoned: func(c outboxCall) (entries, error) { c.after = nil; return c.abandoned() }}.breaks,
			found{"entries come [a": {outboxAbandonedEntriesComeInPages}},
		},
		"abandoned after an instant": {brokenOutbox{abandoned: func(c outboxCall) (entries, error) {
			if c.after != nil {
				c.after = &domain.OutboxEntry{EnqueuedAt: c.after.EnqueuedAt, EntryID: "~"}
			}
			return c.abandoned()
		}}.breaks, found{"entries come": {outboxAbandonedEntriesComeInPages}}},
		"a requeue that keeps the attempts": {brokenOutbox{requeue: func(c outboxCall) (entries, error) {
			return changesEach(func(e *domain.OutboxEntry) { e.Attempts = 1 })(c.requeue())
		}}.breaks, found{"has Attempts 1, want 0": {outboxRequeueMakesErasuresNew}}},
		"a requeue in the order asked": {brokenOutbox{requeue: func(c outboxCall) (entries, error) {
			found, err := c.requeue()
			slices.SortFunc(found, func(a, b domain.OutboxEntry) int {
				return slices.Index(c.ids, a.EntryID) - slices.Index(c.ids, b.EntryID)
			})
			return found, err
		}}.breaks, found{"requeued are [a b c], want [c a b": {outboxRequeueMakesErasuresNew}}},
		"a requeue of all": {brokenOutbox{requeue: func(c outboxCall) (entries, error) {
			abandoned, err := c.Abandoned(c.ctx, nil, 1000)
			if err != nil {
				return nil, err
			}
			return c.Requeue(c.ctx, entryIDs(abandoned))
		}}.breaks, found{"requeued": {outboxRequeueLeavesTheRestAlone}}},
		"a requeue of rectifications": {brokenOutbox{requeue: func(c outboxCall) (entries, error) {
			requeued, err := c.requeue()
			if err != nil {
				return nil, err
			}
			abandoned, err := c.Abandoned(c.ctx, nil, 1000)
			return append(requeued, slices.DeleteFunc(abandoned, func(e domain.OutboxEntry) bool {
				return !slices.Contains(c.ids, e.EntryID)
			})...), err
		}}.breaks, found{"requeued are [g b f], want [g]": {outboxRequeueLeavesTheRestAlone}}},
		"a requeue that takes nothing up": {
			brokenOutbox{requeue: func(outboxCall) (entries, error) { return nil, nil }}.breaks,
			found{"abandoned": {outboxRequeueLeavesTheRestAlone}},
		},
		"a withdrawal of nothing": {
			brokenOutbox{withdraw: func(outboxCall) (entries, error) { return nil, nil }}.breaks,
			found{"a withdrawn entry": {outboxWithdrawnEntryHasLostItsLease}},
		},
		"a withdrawal that returns nothing": {brokenOutbox{withdraw: func(c outboxCall) (entries, error) {
			_, err := c.withdraw()
			return nil, err
		}}.breaks, found{"withdrawn are [], want [failed pending in flight]": {outboxWithdrawAbandonsRectifications}}},
		"a withdrawal from everybody": {brokenOutbox{withdraw: func(c outboxCall) (entries, error) {
			for _, elements := range [][]string{{"acme"}, {"acme", "77"}, {"acmf", "7"}, {"acme", "7", "7"}} {
				other, _ := domain.NewSubjectID(elements...)
				if _, err := c.Withdraw(c.ctx, other); err != nil {
					return nil, err
				}
			}
			return c.withdraw()
		}}.breaks, found{
			"left are [an erasure of the subject], want [an erasure of the subject": {outboxWithdrawLeavesOthersAlone},
		}},
		"a withdrawal of erasures": {brokenOutbox{withdraw: func(c outboxCall) (entries, error) {
			due, err := c.Claim(c.ctx, query(noon.Add(10_000*time.Hour), upTo(1000)...))
			if err != nil {
				return nil, err
			}
			for _, entry := range due {
				s := givesBack(entry)
				if entry.Operation == domain.OperationErase && entry.SubjectID == c.id {
					s = abandons(entry)
				}
				if _, err := c.Settle(c.ctx, settlements{s}); err != nil {
					return nil, err
				}
			}
			return c.withdraw()
		}}.breaks, found{
			"left are [another number another tenant the tenant longer], want [an": {outboxWithdrawLeavesOthersAlone},
		}},
		"a purge of nothing": {brokenOutbox{purge: func(outboxCall) (int64, error) { return 0, nil }}.breaks, found{
			"0 entries were removed, want 2": {outboxPurgeRemovesSucceededEntries},
		}},
		"a purge without a limit": {
			brokenOutbox{purge: func(c outboxCall) (int64, error) { c.limit = 1000; return c.purge() }}.breaks,
			found{"up to 0 of 5 entries: 5 were removed": {outboxPurgeKeepsToTheLimit}},
		},
		"a purge that includes the instant": {
			brokenOutbox{purge: func(c outboxCall) (int64, error) { c.at = c.at.Add(tick); return c.purge() }}.breaks,
			found{"the instant": {outboxPurgeLeavesTheRestAlone}},
		},
		"a purge of open entries": {brokenOutbox{purge: func(c outboxCall) (int64, error) {
			due, err := c.Claim(c.ctx, query(c.at, upTo(1000)...))
			for _, entry := range due {
				if _, err := c.Settle(c.ctx, settlements{succeeds(entry)}); err != nil {
					return 0, err
				}
			}
			if err != nil {
				return 0, err
			}
			return c.purge()
		}}.breaks, found{"an entry is gone that was not enqueued before the instant": {outboxPurgeLeavesTheRestAlone}}},
		"a purge that counts wrongly": {brokenOutbox{purge: func(c outboxCall) (int64, error) {
			_, err := c.purge()
			return int64(c.limit), err
		}}.breaks, found{"entries were removed, want 2": {outboxPurgeRemovesSucceededEntries}}},
	}
}
