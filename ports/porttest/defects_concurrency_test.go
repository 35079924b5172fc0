package porttest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestStoresThatMixUpConcurrentSessionsAreFoundOut(t *testing.T) {
	promise.ExpectDefects(t, storagePromises(), brokenStore, defects{
		"a deadlock fails": {neverRetriesDeadlocks, found{"one failed": {sessionIsTriedAgainAfterADeadlock}}},
		"a second session is refused": {acceptsOneSession, found{
			"a concurrent session failed": {sessionFactoryIsSafeForConcurrentUse},
		}},
		"consent is seen before its commit": {readsUncommitted, found{
			"another session sees {consents:1": {sessionShowsNothingBeforeItsCommit},
		}},
		"a lock that locks nothing": {
			brokenSubjects{lock: locksNothing}.breaks,
			found{"another session has locked the subject before the first session": {subjectLockExcludesOtherSessions}},
		},
		"a rectification that locks nothing": {brokenSubjects{hold: func(subjectCall) (domain.SubjectState, error) {
			return domain.SubjectState{Present: true}, nil
		}}.breaks, found{
			"the state of a subject":                    {subjectLockToRectifyKnowsErasures},
			"hold the lock of the subject concurrently": {subjectLockToRectifyExcludesErasures},
		}},
		"one lease token for all": {brokenOutbox{claim: func(
			ctx context.Context, o ports.Outbox, query domain.ClaimQuery,
		) ([]domain.OutboxEntry, error) {
			query.LeaseToken = "token"
			return o.Claim(ctx, query)
		}}.breaks, found{
			"was claimed at attempt 1, or under the lease of another": {outboxClaimsShareNoEntry},
		}},
		"completion that is decided before the lock": {decidesBeforeTheLock, found{
			"want one that completes": {outboxOverlappingSettlementsCompleteOnce},
		}},
		"marks in places that are taken before the lock": {
			brokenErased{marks: inOtherPlaces}.breaks,
			found{"the marks of [1] are listed": {markThatCommitsLateIsNotMissed}},
		},
		"a sweep before the lock": {brokenErased{sweep: func(
			ctx context.Context, e ports.ErasedStore, id domain.SubjectID, steps []datamap.Step,
		) ([]int64, error) {
			if steps[0].At.Equal(erasedAt) { // no duty is over at this instant
				return make([]int64, len(steps)), nil
			}
			return e.Sweep(ctx, id, steps)
		}}.breaks, found{"hold the lock of the subject concurrently": {sweepExcludesErasures}}},
		"the end of a life at the erasure only": {alsoShows("late", "last"), found{
			"the history of consents is [late": {lifeThatHasEndedLeavesNothingToTheNext},
			"during an erasure: the history":   {lifeThatEndsMeanwhileLeavesNothingToTheNext},
		}},
	})
}

// The store in memory runs one writing session at a time, so its claims wait for each other. It therefore serves as the
// broken store of this test.
func TestAnOutboxWhoseClaimsWaitIsFoundOut(t *testing.T) {
	promise.ExpectFailures(t, promisesOf(outboxClaimsDoNotWaitForEachOther), inMemory(noDefect), found{
		"a claim waits for the session of another one": {outboxClaimsDoNotWaitForEachOther},
	})
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

// errDeadlock simulates the error by which a database ends one of the sessions of a deadlock.
var errDeadlock = errors.New("deadlock")

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

// inOtherPlaces gives each mark the place of its subject: the mark that commits last can be before the others.
func inOtherPlaces(marks []domain.ErasureMark) []domain.ErasureMark {
	for i, mark := range marks {
		elements := mark.SubjectID.Elements()
		number, _ := strconv.ParseInt(elements[len(elements)-1], 10, 64)
		marks[i].Intake = 100 - number
	}
	return marks
}

// locksNothing is a defective Lock.
func locksNothing(c subjectCall) (time.Time, error) { return c.at, errOf(DataMap().Key(c.id)) }

// decidesBeforeTheLock makes a store defective: its Settle decides by the entries that had succeeded before it locked
// the entries of the operation. Only the case for overlapping settlements finds this in each run.
func decidesBeforeTheLock(store *Store) {
	var mu sync.Mutex
	succeeded := 0 // the number of succeeded entries in sessions whose fn has returned
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			mine := 0
			o := brokenOutbox{Outbox: s.Outbox(), settle: func(
				ctx context.Context, o ports.Outbox, settlements []domain.Settlement,
			) ([]domain.SettleResult, error) {
				mu.Lock()
				before := succeeded // read before the lock on the entries
				mu.Unlock()
				results, err := o.Settle(ctx, settlements)
				mu.Lock()
				defer mu.Unlock()
				for i, result := range results {
					if !result.Stale && settlements[i].Status == domain.OutboxSucceeded {
						mine++
					}
					results[i].Completes = result.Completes && before == succeeded
				}
				return results, err
			}}
			err := fn(ctx, replacedStores{Session: s, outbox: o})
			mu.Lock() // while the lock on the entries is held
			defer mu.Unlock()
			succeeded += mine
			return err
		})
	})(store)
}
