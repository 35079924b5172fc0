package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type entries = []domain.OutboxEntry

func TestOutboxesThatFailAFleetAreFoundOut(t *testing.T) {
	expectDefects(t, outboxFleetPromises, inMemory, defects{
		"claims of whatever is due": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
				return o.good.Outbox.Claim(ctx, limit, at, until, token)
			}
		}), found{
			"claimed for a system that has no entry are [to a new system":        {outboxClaimTakesWhatItsCallerKnows},
			"claimed by who lets entries wait longer are [asked to wait longer]": {outboxClaimTakesWhatAWrongClockPutOff},
		}},
		"claims by resolver only": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
				for _, target := range o.good.known {
					for _, operation := range []domain.Operation{domain.OperationErase, domain.OperationRectify} {
						o.good.known = append(o.good.known, domain.OutboxTarget{Resolver: target.Resolver, Operation: operation})
					}
				}
				return o.good.take(ctx, limit, at, until, token)
			}
		}), found{"want only the desk's, which is known": {outboxClaimTakesWhatItsCallerKnows}}},
		"clocks that are always right": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
				claimed, err := o.good.take(ctx, limit, at, until, token)
				return slices.DeleteFunc(claimed, func(e domain.OutboxEntry) bool { return e.Attempts > 1 }), err
			}
		}), found{
			"due are [], want [asked to wait longer]":   {outboxClaimTakesWhatAWrongClockPutOff},
			"then due are [e004 old young], want [e003": {outboxUnclaimedEntriesAreMarkedOnce},
		}},
		"unreadable entries in flight": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
				claimed, err := o.good.take(ctx, limit, at, until, token)
				return each(claimed, err, func(e *domain.OutboxEntry) { e.Status = domain.OutboxInFlight })
			}
		}), found{"returned: \"bad\" is in_flight, want bad, abandoned": {outboxClaimAbandonsWhatItCannotRead}}},
		"unreadable entries that fail the claim": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
				claimed, err := o.good.take(ctx, limit, at, until, token)
				if slices.ContainsFunc(claimed, func(e domain.OutboxEntry) bool { return e.SubjectID.IsZero() }) {
					return nil, errFailure
				}
				return claimed, err
			}
		}), found{"the application failed": {outboxClaimAbandonsWhatItCannotRead}}},
		"marks that do not stay": {changesOutbox(func(o *brokenOutbox) {
			o.unclaimed = func(ctx context.Context, before time.Time, limit int) (entries, error) {
				found, err := o.good.Unclaimed(ctx, before, limit)
				if err != nil || len(found) == 0 {
					return found, err
				}
				again, err := o.good.Claim(ctx, 1, before, before, "marked")
				for _, entry := range again {
					if _, err := o.good.Settle(ctx, []domain.Settlement{fails(entry, noon)}); err != nil {
						return nil, err
					}
				}
				return found, err
			}
		}), found{"unclaimed are [e003": {outboxUnclaimedEntriesAreMarkedOnce}}},
		"a limit below 0 that is none": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
				if limit < 0 {
					limit = 1000
				}
				return o.good.take(ctx, limit, at, until, token)
			}
		}), found{"up to -1: claimed [e002]": {outboxTakesNothingForNothing}}},
		"a list that is a write": {changesOutbox(func(o *brokenOutbox) {
			o.abandoned = func(ctx context.Context, after *domain.OutboxEntry, limit int) (entries, error) {
				if _, err := o.good.Withdraw(ctx, domain.SubjectID{}); err != nil {
					return nil, err
				}
				return o.good.Abandoned(ctx, after, limit)
			}
		}), found{"must": {outboxReadingIsNoWrite}}},
		"a requeue of few": {changesOutbox(func(o *brokenOutbox) {
			o.requeue = func(ctx context.Context, ids []string) (entries, error) {
				if len(ids) > 1<<16 {
					return nil, errFailure
				}
				return o.good.Requeue(ctx, ids)
			}
		}), found{"the application failed": {outboxRequeueTakesAnyNumberOfIDs}}},
	})
}

func TestLogsThatGetARollbackWrongAreFoundOut(t *testing.T) {
	type (
		log    = ports.AuditLog
		events = []domain.AuditEvent
	)
	expectDefects(t, auditRollbackPromises, inMemory, defects{
		"what a rollback leaves is forgotten": {
			brokenLog{onRollback: func(context.Context, log, events) error { return nil }}.breaks,
			found{"got 1 records, want 4": {auditRollbackLeavesItsEvents}},
		},
		"what a rollback leaves is like other events": {
			brokenLog{onRollback: func(ctx context.Context, l log, added events) error { return l.Append(ctx, added...) }}.breaks,
			found{"got 1 records, want 4": {auditRollbackLeavesItsEvents}, "where": {auditCommitDropsEventsOfARollback}},
		},
		"what a rollback leaves is written by itself": {
			changesDo(func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error {
				var left events
				err := do(ctx, func(ctx context.Context, s ports.Session) error {
					return fn(ctx, replaced{Session: s, audit: brokenLog{
						AuditLog:   s.Audit(),
						onRollback: func(_ context.Context, _ log, added events) error { left = append(left, added...); return nil },
					}})
				})
				if err != nil {
					_ = do(context.WithoutCancel(ctx), func(ctx context.Context, s ports.Session) error {
						return s.Audit().Append(ctx, left...)
					})
				}
				return err
			}),
			found{"got 4 records, want 1": {auditRollbackInDoubtLeavesNothing}},
		},
		"what a rollback leaves is evidence": {
			brokenLog{onRollback: func(ctx context.Context, l log, added events) error { return l.AppendEvidence(ctx, added...) }}.breaks,
			found{"where": {auditRollbackLeavesItsEvents, auditCommitDropsEventsOfARollback}},
		},
	})
}
