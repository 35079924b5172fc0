package porttest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// locksNothing is a defective Lock.
func locksNothing(c subjectCall) (time.Time, error) { return c.at, errOf(DataMap().Key(c.id)) }

func subjectSessionDefects() defects {
	return defects{
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
		"a rectification that leaves a mark": {brokenSubjects{hold: func(c subjectCall) (domain.SubjectState, error) {
			state, err := c.hold()
			if err == nil {
				_, err = c.Lock(c.ctx, c.id, noon)
			}
			return state, err
		}}.breaks, found{"the state of a subject that was never erased is": {subjectLockToRectifyKnowsErasures}}},
		"a lock that can be taken once": {func(store *Store) {
			var mu sync.Mutex
			locked := map[domain.SubjectID]bool{}
			brokenSubjects{lock: func(c subjectCall) (time.Time, error) {
				erasedAt, err := c.lock()
				if err != nil {
					return erasedAt, err
				}
				mu.Lock()
				defer mu.Unlock()
				if locked[c.id] {
					return erasedAt, &domain.Error{Code: domain.ErrConflict, Op: "lock", Message: "is there already"}
				}
				locked[c.id] = true
				return erasedAt, nil
			}}.breaks(store)
		}, found{"failed: habeas: lock: is there already": {subjectCanBeLockedAgain}}},
		"no mark of an erasure": {func(store *Store) {
			store.Erased = func(testing.TB, domain.SubjectID) (last time.Time, marked bool) { return last, false }
		}, found{"an erasure left no mark": {subjectLockLeavesAMark}}},
		"the mark of the first erasure": {func(store *Store) {
			var first sync.Map
			brokenSubjects{lock: func(c subjectCall) (time.Time, error) {
				was, _ := first.LoadOrStore(c.id, c.at)
				return c.Lock(c.ctx, c.id, was.(time.Time))
			}}.breaks(store)
		}, found{"an erasure left no mark, or a mark with another instant": {subjectLockLeavesAMark}}},
		"a mark of whoever was locked": {func(store *Store) {
			marked, last := store.Erased, domain.SubjectID{}
			brokenSubjects{lock: func(c subjectCall) (time.Time, error) {
				last = c.id
				return c.lock()
			}}.breaks(store)
			store.Erased = func(t testing.TB, _ domain.SubjectID) (time.Time, bool) { return marked(t, last) }
		}, found{"another subject has the mark of an erasure": {subjectLockLeavesAMark}}},
		"a mark of a rectification": {brokenSubjects{rectify: func(c subjectCall) (int64, error) {
			rows, err := c.rectify()
			if err == nil {
				_, err = c.Lock(c.ctx, c.id, noon)
			}
			return rows, err
		}}.breaks, found{"a rectification left the mark of an erasure": {subjectLockLeavesAMark}}},
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
		"a value that is the caller's": {func(store *Store) {
			var kept []byte
			brokenSubjects{rectify: func(c subjectCall) (int64, error) {
				for _, v := range c.step.Values {
					kept, _ = v.Value.([]byte)
				}
				return c.rectify()
			}}.breaks(store)
			changesRows(func(_ string, row Row) {
				if string(kept) == "wrong" {
					row["photo"] = kept
				}
			})(store)
		}, found{"a change of the given value changed the table": {subjectValuesAreCopies}}},
		"an exported value that is shared": {func(store *Store) {
			var kept []byte
			changesExported(func(record *domain.ExportRecord) bool {
				if photo, isBytes := record.Value.([]byte); isBytes && string(photo) == "right" {
					if kept == nil {
						kept = photo
					}
					record.Value = kept
				}
				return true
			})(store)
		}, found{"a change of the exported value changed the table": {subjectValuesAreCopies}}},
		"a statement for each row": {func(store *Store) {
			var sent atomic.Int64
			brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
				rows, err := c.apply()
				for _, n := range rows {
					sent.Add(n)
				}
				return rows, err
			}}.breaks(store)
			statements := store.Statements
			store.Statements = func() int { return statements() + int(sent.Load()) }
		}, found{"statements for one row in each table, and": {subjectStatementsDoNotDependOnRows}}},
		"a statement for each row of an export": {func(store *Store) {
			var sent atomic.Int64
			changesExported(func(*domain.ExportRecord) bool { sent.Add(1); return true })(store)
			statements := store.Statements
			store.Statements = func() int { return statements() + int(sent.Load()) }
		}, found{"statements for one row in each table, and": {subjectStatementsDoNotDependOnRows}}},
		"statements that are not counted": {func(store *Store) { store.Statements = func() int { return 0 } }, found{
			"Store.Statements counts nothing": {subjectStatementsDoNotDependOnRows},
		}},
	}
}
