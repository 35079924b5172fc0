package porttest

import (
	"context"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestOutboxesThatFailAFleetAreFoundOut(t *testing.T) {
	promise.ExpectDefects(t, outboxFleetPromises, brokenStore, defects{
		"claims of all due entries": {changesQuery(func(query *domain.ClaimQuery) { query.Takes = upTo(10) }), found{
			"claimed without takes are [to a new system": {outboxClaimTakesEntriesOfItsTakes},
		}},
		"claims by resolver only": {changesQuery(func(query *domain.ClaimQuery) {
			query.Takes = slices.Clone(query.Takes)
			for _, take := range query.Takes {
				if take.Operation == domain.OperationErase {
					take.Operation = domain.OperationRectify
					query.Takes = append(query.Takes, take)
				}
			}
		}), found{"], want [the desk's]": {outboxClaimTakesEntriesOfItsTakes}}},
		"clocks that are always right": {skipsRetries, found{
			"due are [], want [asked to wait longer]": {outboxClaimTakesEntriesDelayedByAWrongClock},
		}},
		"no longer wait": {changesQuery(func(query *domain.ClaimQuery) { query.LongestWait = 0 }), found{
			"claimed with a longer LongestWait are [asked to wait longer], want []": {
				outboxClaimTakesEntriesDelayedByAWrongClock,
			},
		}},
		"unreadable entries in flight": {
			changesClaimed(func(e *domain.OutboxEntry) { e.Status = domain.OutboxInFlight }),
			found{"returned: \"bad\" is in_flight, want bad, abandoned": {outboxClaimAbandonsUnreadableEntries}},
		},
		"unreadable entries that fail the claim": {brokenOutbox{claim: func(c outboxCall) (entries, error) {
			claimed, err := c.claim()
			if slices.ContainsFunc(claimed, func(e domain.OutboxEntry) bool { return e.SubjectID.IsZero() }) {
				return nil, errFailure
			}
			return claimed, err
		}}.breaks, found{"the application failed": {outboxClaimAbandonsUnreadableEntries}}},
		"marks that do not stay": {brokenOutbox{unclaimed: func(c outboxCall) (entries, error) {
			found, err := c.unclaimed()
			if err != nil || len(found) == 0 {
				return found, err
			}
			again, err := c.Claim(c.ctx, query(c.at, upTo(1)...))
			for _, entry := range again {
				if _, err := c.Settle(c.ctx, settlements{fails(entry, noon)}); err != nil {
					return nil, err
				}
			}
			return found, err
		}}.breaks, found{"unclaimed are [e003": {outboxUnclaimedEntriesAreMarkedOnce}}},
		"a number below 0 that means no limit": {changesTakes(func(take *domain.Take) {
			if take.Fresh < 0 {
				take.Fresh = 1000
			}
		}), found{"up to -1: claimed are [e002]": {outboxIgnoresEmptyCalls}}},
		"a list that is a write": {brokenOutbox{abandoned: func(c outboxCall) (entries, error) {
			if _, err := c.Withdraw(c.ctx, domain.SubjectID{}); err != nil {
				return nil, err
			}
			return c.abandoned()
		}}.breaks, found{"must": {outboxReadsDoNotCountAsWrites}}},
		"a requeue of few": {brokenOutbox{requeue: func(c outboxCall) (entries, error) {
			if len(c.ids) > 1<<16 {
				return nil, errFailure
			}
			return c.requeue()
		}}.breaks, found{"the application failed": {outboxRequeueTakesAnyNumberOfIDs}}},
	})
}

func TestLogsThatGetARollbackWrongAreFoundOut(t *testing.T) {
	promise.ExpectDefects(t, auditRollbackPromises, brokenStore, defects{
		"events of a rollback are dropped": {brokenLog{onRollback: func(auditCall) error { return nil }}.breaks, found{
			"got 1 records, want 4": {auditRollbackLeavesItsEvents},
		}},
		"events of a rollback are treated as other events": {brokenLog{onRollback: auditCall.add}.breaks, found{
			"there": {auditCommitDropsEventsOfARollback},
		}},
		"events of a rollback are stored alone": {
			changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
				var left []domain.AuditEvent
				err := do(ctx, func(ctx context.Context, s ports.Session) error {
					return fn(ctx, replacedStores{Session: s, audit: brokenLog{
						AuditLog: s.Audit(), onRollback: func(c auditCall) error { left = append(left, c.events...); return nil },
					}})
				})
				if err != nil {
					_ = do(context.WithoutCancel(ctx), func(ctx context.Context, s ports.Session) error {
						return s.Audit().Append(ctx, left...)
					})
				}
				return err
			}),
			found{"got 4 records, want 1": {auditRollbackWithStoredEvidenceAppendsNothing}},
		},
		"events of a rollback become evidence": {brokenLog{onRollback: auditCall.evidence}.breaks, found{
			"there": {auditRollbackLeavesItsEvents, auditCommitDropsEventsOfARollback},
		}},
	})
}
