package porttest

import (
	"context"
	"errors"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// ignoreTaken skips the events whose ids are on the trail of their subject already.
func ignoreTaken(add func(auditCall) error) func(auditCall) error {
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

// readsNotItsOwn is the defect of a trail without the events that its session has appended.
func readsNotItsOwn(store *Store) {
	changesSessions(func(s ports.Session) replaced {
		own := map[string]bool{}
		noting := func(add func(auditCall) error) func(auditCall) error {
			return func(c auditCall) error {
				for _, event := range c.events {
					own[event.EventID] = true
				}
				return add(c)
			}
		}
		return replaced{Session: s, audit: brokenLog{
			AuditLog: s.Audit(), add: noting(auditCall.add), evidence: noting(auditCall.evidence),
			trail: func(c auditCall) ([]domain.AuditEvent, error) {
				trail, err := c.trail()
				return slices.DeleteFunc(trail, func(e domain.AuditEvent) bool { return own[e.EventID] }), err
			},
		}}
	})(store)
}

// ending describes the end of a session.
type ending struct {
	err      error // the error of Do
	panicked bool
	ctx      error // the error of the context
}

// preserves returns the defect of evidence that is stored only after some ends of a session.
func preserves(some func(ending) bool) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) (err error) {
		var evidence []domain.AuditEvent
		returned := false
		defer func() {
			end := ending{err: err, panicked: !returned, ctx: ctx.Err()}
			if returned && err == nil || !some(end) || len(evidence) == 0 {
				return
			}
			lost := do(context.WithoutCancel(ctx), func(ctx context.Context, s ports.Session) error {
				return s.Audit().Append(ctx, evidence...)
			})
			err = errors.Join(err, lost)
		}()
		err = do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replaced{Session: s, audit: brokenLog{
				AuditLog: s.Audit(),
				evidence: func(c auditCall) error { evidence = append(evidence, c.events...); return c.add() },
			}})
		})
		returned = true
		return err
	})
}

// errDeadlock is the error of a database in the session that it chose as the victim of a deadlock.
var errDeadlock = errors.New("deadlock")

// keepsLostAttempts is the defect of a store that does not drop evidence before it retries. It simulates a deadlock in
// each session that locks twice.
func keepsLostAttempts(store *Store) {
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		err := do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replaced{Session: s, subjects: &lockOnce{SubjectStore: s.Subjects(), second: errDeadlock}})
		})
		if errors.Is(err, errDeadlock) {
			return do(ctx, fn)
		}
		return err
	})(store)
}
