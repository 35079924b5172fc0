package porttest

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestStoresThatLoseEvidenceAreFoundOut(t *testing.T) {
	const lost = "got 0 records, want 150"
	promise.ExpectDefects(t, storagePromises(), brokenStore, defects{
		"evidence is like other events": {brokenLog{evidence: func(
			ctx context.Context, log ports.AuditLog, events []domain.AuditEvent,
		) error {
			return log.Append(ctx, events...)
		}}.breaks, found{
			"does not say that evidence was lost": {auditEvidenceThatIsLostIsReported},
		}},
		"evidence of a failed session is refused": {brokenLog{evidence: func(
			ctx context.Context, log ports.AuditLog, events []domain.AuditEvent,
		) error {
			if err := log.Append(ctx); err != nil {
				return err
			}
			return log.AppendEvidence(ctx, events...)
		}}.breaks, found{"got 2 records, want 150": {auditEvidenceOutlivesAFailedStatement}}},
		"an error drops evidence": {keepsEvidenceAfter(func(e ending) bool { return !errors.Is(e.err, errFailure) }), found{
			lost: {auditEvidenceOutlivesAnError},
		}},
		"evidence outlives no panic": {keepsEvidenceAfter(func(e ending) bool { return !e.panicked }), found{
			lost: {auditEvidenceOutlivesAPanic},
		}},
		"evidence outlives no context": {keepsEvidenceAfter(func(e ending) bool { return e.ctx == nil }), found{
			lost: {auditEvidenceOutlivesAContext},
		}},
		"a failed statement drops evidence": {
			keepsEvidenceAfter(func(e ending) bool { return !errors.Is(e.err, domain.ErrConflict) }),
			found{lost: {auditEvidenceOutlivesAFailedStatement}},
		},
		"evidence of lost attempts is kept": {keepsLostAttempts, found{
			`left the evidence`: {auditEvidenceOfALostAttemptIsDropped},
		}},
		"lost evidence is not reported": {changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
			if err := do(ctx, fn); !errors.Is(err, errFailure) {
				return err
			}
			return errFailure
		}), found{"an id that is there already: the error of Do does not say": {auditEvidenceThatIsLostIsReported}}},
		"an event can be changed": {func(store *Store) {
			store.Tamper = func(testing.TB, string) (change, remove error) { return nil, errors.New("refused") }
		}, found{"could be changed": {auditEventsCannotBeTamperedWith}}},
		"events of a rollback are dropped": {brokenLog{onRollback: func(
			context.Context, ports.AuditLog, []domain.AuditEvent,
		) error {
			return nil
		}}.breaks, found{
			"got 1 records, want 4": {auditRollbackLeavesItsEvents},
		}},
		"events of a rollback are stored alone": {
			changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
				var left []domain.AuditEvent
				err := do(ctx, func(ctx context.Context, s ports.Session) error {
					return fn(ctx, replacedStores{Session: s, audit: brokenLog{
						AuditLog: s.Audit(), onRollback: func(_ context.Context, _ ports.AuditLog, events []domain.AuditEvent) error {
							left = append(left, events...)
							return nil
						},
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
		"a rehearsal that leaves its evidence": {rollsBackByError, found{
			"the trail: got 4 records, want 0": {sessionRehearsalLeavesNothing},
		}},
	})
}

type ending struct {
	err      error // the error of Do
	panicked bool
	ctx      error // the error of the context
}

// keepsEvidenceAfter returns a function that makes a store defective. If a session fails, the store keeps its evidence
// (audit events that a rollback does not remove) only if survives returns true for the failure.
func keepsEvidenceAfter(survives func(ending) bool) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) (err error) {
		var evidence []domain.AuditEvent
		returned := false
		defer func() {
			end := ending{err: err, panicked: !returned, ctx: ctx.Err()}
			if returned && err == nil || !survives(end) || len(evidence) == 0 {
				return
			}
			lost := do(context.WithoutCancel(ctx), func(ctx context.Context, s ports.Session) error {
				return s.Audit().Append(ctx, evidence...)
			})
			err = errors.Join(err, lost)
		}()
		err = do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replacedStores{Session: s, audit: brokenLog{
				AuditLog: s.Audit(),
				evidence: func(ctx context.Context, log ports.AuditLog, events []domain.AuditEvent) error {
					evidence = append(evidence, events...)
					return log.Append(ctx, events...)
				},
			}})
		})
		returned = true
		return err
	})
}

// keepsLostAttempts makes a store defective: if Do retries a session, it keeps the evidence of the failed attempt. Each
// session that locks two subjects fails once with a simulated deadlock.
func keepsLostAttempts(store *Store) {
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		err := do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replacedStores{Session: s, subjects: &deadlocks{SubjectStore: s.Subjects(), second: errDeadlock}})
		})
		if errors.Is(err, errDeadlock) {
			return do(ctx, fn)
		}
		return err
	})(store)
}

// rollsBackByError makes a store defective: its Rehearse runs an ordinary session that ends
// with an error.
var rollsBackByError = changesRehearsals(func(do, _ doFunc, ctx context.Context, fn sessionFunc) error {
	err := do(ports.WithRehearsal(ctx), func(ctx context.Context, s ports.Session) error {
		if err := fn(ctx, s); err != nil {
			return err
		}
		if _, err := s.OutboxAdmin().Counts(ctx); err != nil { // makes the store send its buffered appends
			return err
		}
		return errors.Join(ctx.Err(), errUndo)
	})
	if errors.Is(err, errUndo) {
		return ctx.Err()
	}
	return err
})
