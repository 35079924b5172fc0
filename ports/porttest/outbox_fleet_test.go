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
	for name, defect := range map[string]storeDefect{
		"claims of whatever is due": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					return o.good.Outbox.Claim(ctx, limit, at, until, token)
				}
			}),
			map[string]string{
				"outbox claim takes what its caller knows":      "claimed for a system that has no entry are [to a new system",
				"outbox claim takes what a wrong clock put off": "claimed by who lets entries wait longer are [asked to wait longer]",
			},
		},
		"claims by resolver only": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					for _, target := range o.good.known {
						for _, operation := range []domain.Operation{domain.OperationErase, domain.OperationRectify} {
							o.good.known = append(o.good.known, domain.OutboxTarget{Resolver: target.Resolver, Operation: operation})
						}
					}
					return o.good.take(ctx, limit, at, until, token)
				}
			}),
			map[string]string{"outbox claim takes what its caller knows": "want only the desk's, which is known"},
		},
		"clocks that are always right": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					claimed, err := o.good.take(ctx, limit, at, until, token)
					return slices.DeleteFunc(claimed, func(e domain.OutboxEntry) bool { return e.Attempts > 1 }), err
				}
			}),
			map[string]string{
				"outbox claim takes what a wrong clock put off": "due are [], want [asked to wait longer]",
				"outbox unclaimed entries are marked once":      "then due are [e004 old young], want [e003",
			},
		},
		"unreadable entries in flight": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					claimed, err := o.good.take(ctx, limit, at, until, token)
					return each(claimed, err, func(e *domain.OutboxEntry) { e.Status = domain.OutboxInFlight })
				}
			}),
			map[string]string{"outbox claim abandons what it cannot read": "returned: \"bad\" is in_flight, want bad, abandoned"},
		},
		"unreadable entries that fail the claim": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					claimed, err := o.good.take(ctx, limit, at, until, token)
					if slices.ContainsFunc(claimed, func(e domain.OutboxEntry) bool { return e.SubjectID.IsZero() }) {
						return nil, errFailure
					}
					return claimed, err
				}
			}),
			map[string]string{"outbox claim abandons what it cannot read": "the application failed"},
		},
		"marks that do not stay": {
			changesOutbox(func(o *brokenOutbox) {
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
			}),
			map[string]string{"outbox unclaimed entries are marked once": "unclaimed are [e003"},
		},
		"a limit below 0 that is none": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					if limit < 0 {
						limit = 1000
					}
					return o.good.take(ctx, limit, at, until, token)
				}
			}),
			map[string]string{"outbox takes nothing for nothing": "up to -1: claimed [e002]"},
		},
		"a list that is a write": {
			changesOutbox(func(o *brokenOutbox) {
				o.abandoned = func(ctx context.Context, after *domain.OutboxEntry, limit int) (entries, error) {
					if _, err := o.good.Withdraw(ctx, domain.SubjectID{}); err != nil {
						return nil, err
					}
					return o.good.Abandoned(ctx, after, limit)
				}
			}),
			map[string]string{"outbox reading is no write": "must"},
		},
		"a requeue of few": {
			changesOutbox(func(o *brokenOutbox) {
				o.requeue = func(ctx context.Context, ids []string) (entries, error) {
					if len(ids) > 1<<16 {
						return nil, errFailure
					}
					return o.good.Requeue(ctx, ids)
				}
			}),
			map[string]string{"outbox requeue takes any number of ids": "the application failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectFailures(t, outboxFleetCases, inMemory(defect.breaks), defect.found)
		})
	}
}

func TestLogsThatGetARollbackWrongAreFoundOut(t *testing.T) {
	type (
		log    = ports.AuditLog
		events = []domain.AuditEvent
	)
	expectDefects(t, auditRollbackCases, map[string]storeDefect{
		"what a rollback leaves is forgotten": {
			brokenLog{onRollback: func(context.Context, log, events) error { return nil }}.breaks,
			map[string]string{"audit rollback leaves its events": "got 1 records, want 4"},
		},
		"what a rollback leaves is like other events": {
			brokenLog{onRollback: func(ctx context.Context, l log, added events) error { return l.Append(ctx, added...) }}.breaks,
			map[string]string{
				"audit rollback leaves its events":        "got 1 records, want 4",
				"audit commit drops events of a rollback": "where",
			},
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
			map[string]string{"audit rollback in doubt leaves nothing": "got 4 records, want 1"},
		},
		"what a rollback leaves is evidence": {
			brokenLog{onRollback: func(ctx context.Context, l log, added events) error { return l.AppendEvidence(ctx, added...) }}.breaks,
			map[string]string{
				"audit rollback leaves its events":        "where",
				"audit commit drops events of a rollback": "where",
			},
		},
	})
}
