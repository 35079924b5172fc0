package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type sessionFunc = func(context.Context, ports.Session) error

// commitsOn returns the defect of a commit after an error or a panic.
func commitsOn(failure, panics bool) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		var failed error
		var panicked any
		err := do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			defer func() {
				if panics {
					panicked = recover()
				}
			}()
			if failed = fn(ctx, s); failure {
				return nil
			}
			return failed
		})
		if panicked != nil {
			panic(panicked)
		}
		if failed != nil {
			return errors.Join(failed, err)
		}
		return err
	})
}

// commitsOnExit is the defect of running fn in another goroutine that may exit unnoticed.
var commitsOnExit = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(ctx, func(ctx context.Context, s ports.Session) error {
		ended, panicked := make(chan error, 1), make(chan any, 1)
		go func() {
			defer close(ended)
			defer func() {
				if value := recover(); value != nil {
					panicked <- value
				}
			}()
			ended <- fn(ctx, s)
		}()
		err := <-ended
		select {
		case value := <-panicked:
			panic(value)
		default:
			return err
		}
	})
})

// recovers returns the defect of recovering a panic and continuing with instead.
func recovers(instead func(value any) error) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) (err error) {
		defer func() {
			if value := recover(); value != nil {
				err = instead(value)
			}
		}()
		return do(ctx, fn)
	})
}

// changesResult returns a defect that changes the error of Do. ofFn is the error of fn.
func changesResult(change func(err, ofFn error) error) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		var ofFn error
		err := do(ctx, func(ctx context.Context, s ports.Session) error {
			ofFn = fn(ctx, s)
			return ofFn
		})
		return change(err, ofFn)
	})
}

// ignoresContexts is the defect of a session that continues after the end of its context.
var ignoresContexts = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(context.WithoutCancel(ctx), fn)
})

// nests is the defect of a Do inside fn that opens an independent session.
var nests = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(ctx, func(_ context.Context, s ports.Session) error { return fn(ctx, s) })
})

// joins is the defect of a Do inside fn that uses the outer session.
func joins(store *Store) {
	type key struct{}
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		if outer, ok := ctx.Value(key{}).(ports.Session); ok {
			return fn(ctx, outer)
		}
		return do(ctx, func(ctx context.Context, s ports.Session) error { return fn(context.WithValue(ctx, key{}, s), s) })
	})(store)
}

// livesOn is the defect of sessions that write late appends in another session.
func livesOn(store *Store) {
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			late := func(c auditCall) error {
				err := c.add()
				if errors.Is(err, domain.ErrSession) {
					return do(c.ctx, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, c.events...) })
				}
				return err
			}
			return fn(ctx, replaced{Session: s, audit: brokenLog{AuditLog: s.Audit(), add: late}})
		})
	})(store)
}

// keepsReferences is the defect of appends that read the caller's restrictions only at the end.
var keepsReferences = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(ctx, func(ctx context.Context, s ports.Session) error {
		held := &heldRestrictions{RestrictionStore: s.Restrictions()}
		if err := fn(ctx, replaced{Session: s, restrictions: held}); err != nil {
			return err
		}
		return held.flush(ctx)
	})
})

type heldRestrictions struct {
	ports.RestrictionStore
	held []domain.RestrictionRecord
}

func (h *heldRestrictions) Append(ctx context.Context, record domain.RestrictionRecord) error {
	h.held = append(h.held, record)
	_, err := h.RestrictionStore.History(ctx, domain.SubjectID{}, nil) // fails if the session has ended
	return err
}

func (h *heldRestrictions) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	if err := h.flush(ctx); err != nil {
		return nil, err
	}
	return h.RestrictionStore.History(ctx, id, purpose)
}

func (h *heldRestrictions) flush(ctx context.Context) error {
	for _, record := range h.held {
		if err := h.RestrictionStore.Append(ctx, record); err != nil {
			return err
		}
	}
	h.held = nil
	return nil
}

// sharesPayloads is the defect of a cache that returns shared values.
func sharesPayloads(store *Store) {
	var cached sync.Map
	returnsEvents(func(e *domain.AuditEvent) {
		payload, _ := cached.LoadOrStore(e.EventID, e.Payload)
		e.Payload, _ = payload.(domain.Payload)
	})(store)
}

// connects returns the defect of unexpected connections. A session takes its connection at the beginning if atOnce is
// set. It returns the connection at the end unless keep is true.
func connects(atOnce bool, keep func(err error, panicked bool) bool) func(*Store) {
	return func(store *Store) {
		var open atomic.Int64
		needed := store.Connections
		store.Connections = func() int { return int(open.Load()) + needed() }
		changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) (err error) {
			returned := false
			if atOnce {
				open.Add(1)
				defer open.Add(-1)
			}
			defer func() {
				if keep(err, !returned) {
					open.Add(1)
				}
			}()
			err = do(ctx, fn)
			returned = true
			return err
		})(store)
	}
}

func never(error, bool) bool { return false }

func afterError(err error, _ bool) bool { return err != nil }

func afterPanic(_ error, panicked bool) bool { return panicked }

// readsDirt is the defect of consent that others can read before the commit.
func readsDirt(store *Store) {
	var mu sync.Mutex
	uncommitted := map[ports.Session][]domain.ConsentRecord{}
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				delete(uncommitted, s)
			}()
			log := dirtyConsents{s.Consents(), func(added *domain.ConsentRecord) (others []domain.ConsentRecord) {
				mu.Lock()
				defer mu.Unlock()
				if added != nil {
					uncommitted[s] = append(uncommitted[s], *added)
				}
				for session, records := range uncommitted {
					if session != s {
						others = append(others, records...)
					}
				}
				return others
			}}
			return fn(ctx, replaced{Session: s, consents: log})
		})
	})(store)
}

type dirtyConsents struct {
	ports.ConsentStore
	share func(added *domain.ConsentRecord) (others []domain.ConsentRecord)
}

func (d dirtyConsents) Append(ctx context.Context, record domain.ConsentRecord) error {
	err := d.ConsentStore.Append(ctx, record)
	if err == nil {
		d.share(&record)
	}
	return err
}

func (d dirtyConsents) History(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	records, err := d.ConsentStore.History(ctx, id, purpose)
	for _, other := range d.share(nil) {
		if other.SubjectID == id && other.Purpose == purpose {
			records = append(records, other)
		}
	}
	return records, err
}

// locksOnce is the defect of a deadlock that is not retried. Each session that locks twice has a deadlock.
var locksOnce = changesSessions(func(s ports.Session) replaced {
	return replaced{Session: s, subjects: &lockOnce{SubjectStore: s.Subjects(), second: errDeadlock}}
})

// lockOnce is a SubjectStore whose second lock fails.
type lockOnce struct {
	ports.SubjectStore
	locked bool
	second error
}

func (l *lockOnce) Lock(ctx context.Context, id domain.SubjectID, at time.Time) error {
	err := l.SubjectStore.Lock(ctx, id, at)
	if err == nil && l.locked {
		return l.second
	}
	l.locked = true
	return err
}

// turnsAway is the defect of a store that accepts only one session.
func turnsAway(store *Store) {
	var open atomic.Int64
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		defer open.Add(-1)
		if open.Add(1) > 1 && ctx.Value(turnsAwayKey{}) == nil {
			return errNowhere
		}
		return do(context.WithValue(ctx, turnsAwayKey{}, true), fn)
	})(store)
}

type turnsAwayKey struct{}

// refusesWithoutFailing is the defect of a session that forgets a refused append.
var refusesWithoutFailing = brokenLog{add: func(c auditCall) error {
	for _, event := range c.events {
		trail, err := c.Trail(c.ctx, event.SubjectRef)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(trail, func(e domain.AuditEvent) bool { return e.EventID == event.EventID }) {
			return &domain.Error{Code: domain.ErrConflict, Op: "audit"}
		}
	}
	return c.add()
}}.breaks

// deniesBeingAway is the defect of an unreachable store that reports success.
func deniesBeingAway(store *Store) {
	unreachable := store.Unreachable
	store.Unreachable = func(t testing.TB) ports.SessionFactory {
		away := Store{Sessions: unreachable(t)}
		changesResult(func(_, ofFn error) error { return ofFn })(&away)
		return away.Sessions
	}
}

// says is the defect of an error that contains an appended value.
func says(store *Store) {
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		last := ""
		err := do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replaced{Session: s, audit: brokenLog{AuditLog: s.Audit(), add: func(c auditCall) error {
				for _, event := range c.events {
					last = event.EventID
				}
				return c.add()
			}}})
		})
		if err != nil && last != "" {
			return fmt.Errorf("%w: event %s", err, last)
		}
		return err
	})(store)
}
