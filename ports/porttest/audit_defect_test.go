package porttest

import (
	"context"
	"errors"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// skipTakenIDs returns a defective AuditLog.Append: it skips an event without an error if the subject's trail already
// has an event with the same id. It passes the other events to the correct Append.
func skipTakenIDs(add func(auditCall) error) func(auditCall) error {
	return func(c auditCall) error {
		for _, event := range c.events {
			trail, err := c.Trail(c.ctx, event.SubjectRef)
			if slices.ContainsFunc(trail, func(e domain.AuditEvent) bool { return e.EventID == event.EventID }) {
				continue
			}
			one := c
			one.events = []domain.AuditEvent{event}
			if err := errors.Join(err, add(one)); err != nil {
				return err
			}
		}
		return nil
	}
}

// hidesOwnEvents makes a store defective: in a session, Trail leaves out the events that this session has appended.
func hidesOwnEvents(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		own := map[string]bool{}
		noting := func(add func(auditCall) error) func(auditCall) error {
			return func(c auditCall) error {
				for _, event := range c.events {
					own[event.EventID] = true
				}
				return add(c)
			}
		}
		return replacedStores{Session: s, audit: brokenLog{
			AuditLog: s.Audit(), add: noting(auditCall.add), evidence: noting(auditCall.evidence),
			trail: func(c auditCall) ([]domain.AuditEvent, error) {
				trail, err := c.trail()
				return slices.DeleteFunc(trail, func(e domain.AuditEvent) bool { return own[e.EventID] }), err
			},
		}}
	})(store)
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
				evidence: func(c auditCall) error { evidence = append(evidence, c.events...); return c.add() },
			}})
		})
		returned = true
		return err
	})
}

// errDeadlock simulates the error by which a database ends one of the sessions of a deadlock.
var errDeadlock = errors.New("deadlock")

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
