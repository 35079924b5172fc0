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

// commitsOn returns a function that makes a store defective. If failure is true, Do commits although fn has returned an
// error. If panics is true, Do commits although fn has panicked.
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

// commitsOnExit makes a store defective: its Do runs fn in another goroutine. If this goroutine exits before fn has
// returned, Do commits.
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

// swallowsPanics returns a function that makes a store defective: its Do recovers a panic of fn. It passes the value of
// the panic to the given function, and returns the error that this function returns.
func swallowsPanics(instead func(value any) error) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) (err error) {
		defer func() {
			if value := recover(); value != nil {
				err = instead(value)
			}
		}()
		return do(ctx, fn)
	})
}

// changesResult returns a function that makes a store defective: its Do returns change(err, ofFn), where err is the
// result of the correct Do, and ofFn is the result of fn.
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

// ignoresContexts makes a store defective: its sessions continue after the end of their context.
var ignoresContexts = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(context.WithoutCancel(ctx), fn)
})

// ignoresOuterSession makes a store defective: a call of Do inside fn opens an independent session.
var ignoresOuterSession = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(ctx, func(_ context.Context, s ports.Session) error { return fn(ctx, s) })
})

// reusesOuterSession makes a store defective: a call of Do inside fn uses the outer session.
func reusesOuterSession(store *Store) {
	type key struct{}
	type outer struct{ session ports.Session }
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		if outer, ok := ctx.Value(key{}).(outer); ok {
			return fn(ctx, outer.session)
		}
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(context.WithValue(ctx, key{}, outer{s}), s)
		})
	})(store)
}

// appendsAfterEnd makes a store defective: an append after the end of a session does not fail. The store appends the
// event in another session.
func appendsAfterEnd(store *Store) {
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			late := func(c auditCall) error {
				err := c.add()
				if errors.Is(err, domain.ErrSession) {
					return do(c.ctx, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, c.events...) })
				}
				return err
			}
			return fn(ctx, replacedStores{Session: s, audit: brokenLog{AuditLog: s.Audit(), add: late}})
		})
	})(store)
}

// keepsReferences makes a store defective: a session does not copy the restriction records that the caller appends. It
// reads them when it ends. By then, the caller may have changed them.
var keepsReferences = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(ctx, func(ctx context.Context, s ports.Session) error {
		held := &heldRestrictions{RestrictionStore: s.Restrictions()}
		if err := fn(ctx, replacedStores{Session: s, restrictions: held}); err != nil {
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

// sharesPayloads makes a store defective: its Trail returns the same payload to all callers.
func sharesPayloads(store *Store) {
	var cached sync.Map
	returnsEvents(func(e *domain.AuditEvent) {
		payload, _ := cached.LoadOrStore(e.EventID, e.Payload)
		e.Payload, _ = payload.(domain.Payload)
	})(store)
}

// opensConnections returns a function that makes a store defective: its sessions hold more connections than they need.
// If atOnce is true, each session takes an additional connection when it begins. A session leaves a connection open at
// its end if keep returns true.
func opensConnections(atOnce bool, keep func(err error, panicked bool) bool) func(*Store) {
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

// readsUncommitted makes a store defective: other sessions read consent records before the commit.
func readsUncommitted(store *Store) {
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
			return fn(ctx, replacedStores{Session: s, consents: log})
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

// neverRetriesDeadlocks makes a store defective: its Do does not retry after a deadlock. Each session that locks two
// subjects fails with a simulated deadlock.
var neverRetriesDeadlocks = changesSessions(func(s ports.Session) replacedStores {
	return replacedStores{Session: s, subjects: &deadlocks{SubjectStore: s.Subjects(), second: errDeadlock}}
})

// deadlocks is a SubjectStore that simulates a deadlock: only the first call of Lock succeeds. Each later call returns
// a given error.
type deadlocks struct {
	ports.SubjectStore
	locked bool
	second error
}

func (l *deadlocks) Lock(ctx context.Context, id domain.SubjectID, at time.Time) (time.Time, error) {
	erasedAt, err := l.SubjectStore.Lock(ctx, id, at)
	if err == nil && l.locked {
		return time.Time{}, l.second
	}
	l.locked = true
	return erasedAt, err
}

// acceptsOneSession makes a store defective: its Do fails while another session is open.
func acceptsOneSession(store *Store) {
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

// refusesWithoutFailing makes a store defective: a refused append returns an error, but the session can still be
// committed.
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

// ignoresUnreachable makes a store defective: its Do reports success although the database cannot be reached.
func ignoresUnreachable(store *Store) {
	unreachable := store.Unreachable
	store.Unreachable = func(t testing.TB) Store {
		t.Helper()
		away := unreachable(t)
		changesResult(func(_, ofFn error) error { return ofFn })(&away)
		return away
	}
}

// namesValueInError makes a store defective: the error of Do contains a value that the session has appended.
func namesValueInError(store *Store) {
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		last := ""
		err := do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replacedStores{Session: s, audit: brokenLog{AuditLog: s.Audit(), add: func(c auditCall) error {
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
