package porttest

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestStoresThatDoNotRollBackAreFoundOut(t *testing.T) {
	const committed = "the stores hold {consents:1"
	promise.ExpectDefects(t, storagePromises(), brokenStore, defects{
		"an error commits":     {commitsOn(true, false), found{committed: {sessionRollsEverythingBackOnAnError}}},
		"a panic commits":      {commitsOn(false, true), found{committed: {sessionRollsEverythingBackOnAPanic}}},
		"an exit commits":      {commitsOnExit, found{committed: {sessionRollsBackWhenItsGoroutineExits}}},
		"contexts are ignored": {ignoresContexts, found{committed: {sessionRollsBackWhenItsContextIsCancelled}}},
		"a rehearsal that commits": {changesRehearsals(func(do, _ doFunc, ctx context.Context, fn sessionFunc) error {
			return do(ports.WithRehearsal(ctx), fn)
		}), found{committed: {sessionRehearsalLeavesNothing}}},
		"entries immediately, in a separate session": {func(store *Store) {
			sessions := store.Sessions
			brokenOutbox{enqueue: func(_ context.Context, _ ports.Outbox, added []domain.OutboxEntry) error {
				return sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
					return s.Outbox().Enqueue(ctx, added...)
				})
			}}.breaks(store)
		}, found{
			"another session sees an entry before the commit": {outboxEntriesComeWithTheCommit},
			"after a rollback 2 entries are pending":          {outboxEntriesGoWithARollback},
		}},
		"a claim immediately, in a separate session": {func(store *Store) {
			sessions := store.Sessions
			brokenOutbox{claim: func(
				_ context.Context, _ ports.Outbox, query domain.ClaimQuery,
			) (claimed []domain.OutboxEntry, err error) {
				err = sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
					claimed, err = s.Outbox().Claim(ctx, query)
					return err
				})
				return claimed, err
			}}.breaks(store)
		}, found{
			"the session claims": {outboxSessionClaimsItsOwnEntries},
			"after the rollback": {outboxClaimCanBeRolledBack},
		}},
		"steps immediately, in a separate session": {func(store *Store) {
			sessions := store.Sessions
			brokenSubjects{
				lock: locksNothing,
				apply: func(c subjectCall) (rows []int64, err error) {
					err = sessions.Do(context.Background(), func(ctx context.Context, other ports.Session) error {
						rows, err = rowsOf(other.Subjects().Apply(ctx, c.id, c.steps))
						return err
					})
					return rows, err
				},
			}.breaks(store)
		}, found{"after a rollback": {subjectPlanCanBeRolledBack}}},
		"a rectification immediately, in a separate session": {func(store *Store) {
			sessions := store.Sessions
			brokenSubjects{rectify: func(c subjectCall) (rows int64, err error) {
				err = sessions.Do(context.Background(), func(ctx context.Context, other ports.Session) error {
					rows, err = other.Subjects().Rectify(ctx, c.id, c.step)
					return err
				})
				return rows, err
			}}.breaks(store)
		}, found{"after a rollback: people.email has changed in a row": {subjectRectificationCanBeRolledBack}}},
		"a registration immediately, in a separate session": {func(store *Store) {
			sessions := store.Sessions
			brokenSubjects{register: func(c subjectCall) error {
				return sessions.Do(context.Background(), func(ctx context.Context, other ports.Session) error {
					return other.Subjects().Register(ctx, c.id, c.at)
				})
			}}.breaks(store)
		}, found{"after a registration without a commit": {lifeIsNotDividedByARollback}}},
		"a mark of a rollback": {brokenErased{marks: func(all []domain.ErasureMark) []domain.ErasureMark {
			ghost := domain.ErasureMark{SubjectID: subject(t, "acme", 8), ErasedAt: after(1), Erasures: 1, Intake: 2}
			return append(all, ghost)
		}}.breaks, found{
			"after a rollback": {markOfARollbackIsNotListed},
		}},
		"a sweep that commits by itself": {commitsSweeps, found{"after a rollback": {sweepCanBeRolledBack}}},
	})
}

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

// ignoresContexts makes a store defective: its sessions continue after the end of their context.
var ignoresContexts = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(context.WithoutCancel(ctx), fn)
})

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

// commitsSweeps makes a store defective: a rollback does not undo a sweep.
func commitsSweeps(store *Store) {
	good := doFunc(store.Sessions.Do)
	changesDo(func(do doFunc, outside context.Context, fn sessionFunc) error {
		var pending func() error
		err := do(outside, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replacedStores{Session: s, erased: brokenErased{ErasedStore: s.Erased(), sweep: func(
				ctx context.Context, e ports.ErasedStore, id domain.SubjectID, steps []datamap.Step,
			) ([]int64, error) {
				pending = func() error {
					return good(outside, func(ctx context.Context, s ports.Session) error {
						return errOf(s.Erased().Sweep(ctx, id, steps))
					})
				}
				return e.Sweep(ctx, id, steps)
			}}})
		})
		if err != nil && pending != nil {
			_ = pending()
		}
		return err
	})(store)
}
