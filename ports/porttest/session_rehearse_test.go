package porttest

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// wrapped returns a session factory in which the last two functions replace the methods Do and Rehearse. Each function
// gets the method that it replaces as its first argument.
func wrapped(
	sessions ports.SessionFactory, do, rehearse func(doFunc, context.Context, sessionFunc) error,
) ports.SessionFactory {
	return factory{
		func(ctx context.Context, fn sessionFunc) error { return do(sessions.Do, ctx, fn) },
		func(ctx context.Context, fn sessionFunc) error { return rehearse(sessions.Rehearse, ctx, fn) },
		sessions.Probe,
	}
}

// asIs calls a method and does not change its effect. As an argument of wrapped, it keeps the correct method.
func asIs(run doFunc, ctx context.Context, fn sessionFunc) error { return run(ctx, fn) }

// changesRehearsals returns a function that makes a store defective: brokenRehearse replaces its Rehearse. The first
// two arguments of brokenRehearse are the correct methods Do and Rehearse.
func changesRehearsals(
	brokenRehearse func(do, rehearse doFunc, ctx context.Context, fn sessionFunc) error,
) func(*Store) {
	return func(store *Store) {
		do := doFunc(store.Sessions.Do)
		store.Sessions = wrapped(store.Sessions, asIs, func(rehearse doFunc, ctx context.Context, fn sessionFunc) error {
			return brokenRehearse(do, rehearse, ctx, fn)
		})
	}
}

// rollsBackByError returns a function that makes a store defective: its Rehearse runs an ordinary session that ends
// with an error, so that the database does not make the checks of a commit. changeSession can add another defect to the
// session.
func rollsBackByError(changeSession func(s ports.Session) ports.Session) func(*Store) {
	return changesRehearsals(func(do, _ doFunc, ctx context.Context, fn sessionFunc) error {
		err := do(ports.WithRehearsal(ctx), func(ctx context.Context, s ports.Session) error {
			if err := fn(ctx, changeSession(s)); err != nil {
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
}

func TestRehearsalsThatBreakAPromiseAreFoundOut(t *testing.T) {
	promise.ExpectDefects(t, rehearsalPromises, brokenStore, defects{
		"a rehearsal that commits": {changesRehearsals(func(do, _ doFunc, ctx context.Context, fn sessionFunc) error {
			return do(ports.WithRehearsal(ctx), fn)
		}), found{"the stores hold {consents:1": {sessionRehearsalLeavesNothing}}},
		"a rollback that leaves its evidence": {rollsBackByError(func(s ports.Session) ports.Session { return s }), found{
			"the trail: got 4 records, want 0": {sessionRehearsalLeavesNothing},
		}},
		"a rehearsal that calls functions of AfterEnd": {callsAfterARehearsal, found{
			"was called after a rehearsal": {sessionRehearsalCallsNothingAfterIt},
		}},
		"a rehearsal that writes nothing": {changesRehearsals(func(_, do doFunc, ctx context.Context, fn sessionFunc) error {
			return do(ctx, func(ctx context.Context, s ports.Session) error { return fn(ctx, writesNothing(s)) })
		}), found{"a rehearsal sees {consents:0": {sessionRehearsalSeesItsWrites}}},
		"a rehearsal that is tried again": {changesRehearsals(func(_, do doFunc, ctx context.Context, fn sessionFunc) error {
			if err := do(ctx, fn); err == nil {
				return nil
			}
			return do(ctx, fn)
		}), found{"fn of a rehearsal was called 2 times": {sessionRehearsalReturnsTheErrorOfFn}}},
		"a rehearsal without an error": {changesRehearsals(func(_, do doFunc, ctx context.Context, fn sessionFunc) error {
			if err := do(ctx, fn); !errors.Is(err, errCause) {
				return err
			}
			return nil
		}), found{"instead of the error of fn": {sessionRehearsalReturnsTheErrorOfFn}}},
		"a commit that is not tried": {changesRehearsals(func(_, do doFunc, ctx context.Context, fn sessionFunc) error {
			var ofFn error
			_ = do(ctx, func(ctx context.Context, s ports.Session) error {
				ofFn = fn(ctx, s)
				return ofFn
			})
			return ofFn
		}), found{"want the error habeas: conflict": {sessionRehearsalFailsAsItsCommitWould}}},
		"a rehearsal that is a secret": {changesRehearsals(func(_, do doFunc, ctx context.Context, fn sessionFunc) error {
			return do(ctx, func(_ context.Context, s ports.Session) error { return fn(ctx, s) })
		}), found{"Rehearsing is false": {sessionRehearsalIsKnownToItsContext}}},
		"a session inside a rehearsal": {changesRehearsals(func(_, do doFunc, ctx context.Context, fn sessionFunc) error {
			return do(ctx, func(_ context.Context, s ports.Session) error { return fn(ports.WithRehearsal(ctx), s) })
		}), found{"inside a rehearsal: want the error habeas: session": {sessionRehearsalIsNeverNested}}},
	})
}

// callsAfterARehearsal makes a store defective: its Rehearse calls the functions that are registered with AfterEnd.
var callsAfterARehearsal = changesRehearsals(func(_, do doFunc, ctx context.Context, fn sessionFunc) error {
	var after []func(context.Context, error)
	err := do(ctx, func(ctx context.Context, s ports.Session) error {
		note := func(fn func(context.Context, error)) { after = append(after, fn) }
		return fn(ctx, afterEnd{replacedStores{Session: s}, note})
	})
	for _, fn := range after {
		fn(ctx, err)
	}
	return err
})

// writesNothing returns a session whose consent store ignores each append.
func writesNothing(s ports.Session) ports.Session {
	return replacedStores{Session: s, consents: noConsents{s.Consents()}}
}

type noConsents struct{ ports.ConsentStore }

func (noConsents) Append(context.Context, domain.ConsentRecord) error { return nil }
