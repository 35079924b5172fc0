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

func subjectSessionDefects() defects {
	return defects{
		"a lock that locks nothing": {changesSubjects(func(s *brokenSubjects) {
			s.lock = func(_ context.Context, id domain.SubjectID, _ time.Time) error {
				_, err := DataMap().Key(id)
				return err
			}
		}), found{
			"the state of a subject that was erased is":                   {subjectLockToRectifyKnowsErasures},
			"have the subject at the same time":                           {subjectLockToRectifyExcludesErasures},
			"another session has locked the subject before the first one": {subjectLockExcludesOtherSessions},
			"an erasure left no mark":                                     {subjectLockLeavesAMark}, "after Lock in its session": {subjectExportComesBeforeWrites},
		}},
		"a rectification that locks nothing": {changesSubjects(func(s *brokenSubjects) {
			s.hold = func(context.Context, domain.SubjectID) (domain.SubjectState, error) {
				return domain.SubjectState{Present: true}, nil
			}
		}), found{
			"the state of a subject":            {subjectLockToRectifyKnowsErasures},
			"have the subject at the same time": {subjectLockToRectifyExcludesErasures},
		}},
		"a rectification that leaves a mark": {changesSubjects(func(s *brokenSubjects) {
			s.hold = func(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
				state, err := s.good.LockToRectify(ctx, id)
				if err == nil {
					err = s.good.Lock(ctx, id, noon)
				}
				return state, err
			}
		}), found{"the state of a subject that was never erased is": {subjectLockToRectifyKnowsErasures}}},
		"a lock that can be taken once": {func(store *Store) {
			var mu sync.Mutex
			locked := map[domain.SubjectID]bool{}
			changesSubjects(func(s *brokenSubjects) {
				s.lock = func(ctx context.Context, id domain.SubjectID, at time.Time) error {
					if err := s.good.Lock(ctx, id, at); err != nil {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					if locked[id] {
						return &domain.Error{Code: domain.ErrConflict, Op: "lock", Message: "is there already"}
					}
					locked[id] = true
					return nil
				}
			})(store)
		}, found{
			"is there already":                       {subjectLockToRectifyExcludesErasures},
			"habeas: lock: is there already":         {subjectLockExcludesOtherSessions, subjectLockLeavesAMark},
			"failed: habeas: lock: is there already": {subjectCanBeLockedAgain},
		}},
		"no mark of an erasure": {func(store *Store) {
			store.Erased = func(testing.TB, domain.SubjectID) (last time.Time, marked bool) { return last, false }
		}, found{"an erasure left no mark": {subjectLockLeavesAMark}}},
		"the mark of the first erasure": {func(store *Store) {
			var first sync.Map
			changesSubjects(func(s *brokenSubjects) {
				s.lock = func(ctx context.Context, id domain.SubjectID, at time.Time) error {
					was, _ := first.LoadOrStore(id, at)
					return s.good.Lock(ctx, id, was.(time.Time))
				}
			})(store)
		}, found{"an erasure left no mark, or one of another instant": {subjectLockLeavesAMark}}},
		"a mark of whoever was locked": {func(store *Store) {
			marked, last := store.Erased, domain.SubjectID{}
			changesSubjects(func(s *brokenSubjects) {
				s.lock = func(ctx context.Context, id domain.SubjectID, at time.Time) error {
					last = id
					return s.good.Lock(ctx, id, at)
				}
			})(store)
			store.Erased = func(t testing.TB, _ domain.SubjectID) (time.Time, bool) { return marked(t, last) }
		}, found{"another subject has the mark of an erasure": {subjectLockLeavesAMark}}},
		"a mark of a rectification": {changesSubjects(func(s *brokenSubjects) {
			s.rectify = func(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
				rows, err := s.good.Rectify(ctx, id, step)
				if err == nil {
					err = s.good.Lock(ctx, id, noon)
				}
				return rows, err
			}
		}), found{"a rectification left the mark of an erasure": {subjectLockLeavesAMark}}},
		"steps at once, in a session of their own": {func(store *Store) {
			sessions := store.Sessions
			changesSubjects(func(s *brokenSubjects) {
				s.lock = func(_ context.Context, id domain.SubjectID, _ time.Time) error {
					_, err := DataMap().Key(id)
					return err
				}
				s.apply = func(_ context.Context, id domain.SubjectID, steps []domain.Step) (rows []int64, err error) {
					err = sessions.Do(context.Background(), func(ctx context.Context, other ports.Session) error {
						rows, err = other.Subjects().Apply(ctx, id, steps)
						return err
					})
					return rows, err
				}
			})(store)
		}, found{
			"is no habeas: manifest":                                      {subjectRefusedStepsCannotBeCommitted},
			"the state of a subject that was erased is":                   {subjectLockToRectifyKnowsErasures},
			"have the subject at the same time":                           {subjectLockToRectifyExcludesErasures},
			"another session has locked the subject before the first one": {subjectLockExcludesOtherSessions},
			"an erasure left no mark":                                     {subjectLockLeavesAMark}, "after a rollback": {subjectPlanCanBeRolledBack},
			"in its session": {subjectExportComesBeforeWrites},
		}},
		"a rectification at once, in a session of its own": {func(store *Store) {
			sessions := store.Sessions
			changesSubjects(func(s *brokenSubjects) {
				s.rectify = func(_ context.Context, id domain.SubjectID, step domain.RectificationStep) (rows int64, err error) {
					err = sessions.Do(context.Background(), func(ctx context.Context, other ports.Session) error {
						rows, err = other.Subjects().Rectify(ctx, id, step)
						return err
					})
					return rows, err
				}
			})(store)
		}, found{
			"after a rollback: people.email has changed in a row": {subjectRectificationCanBeRolledBack},
			"after Rectify in its session":                        {subjectExportComesBeforeWrites},
		}},
		"a value that is the caller's": {func(store *Store) {
			var kept []byte
			changesSubjects(func(s *brokenSubjects) {
				s.rectify = func(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
					for _, v := range step.Values {
						kept, _ = v.Value.([]byte)
					}
					return s.good.Rectify(ctx, id, step)
				}
			})(store)
			changesRows(func(_ string, row Row) {
				if string(kept) == "wrong" {
					row["photo"] = kept
				}
			})(store)
		}, found{"a value in the table changed with the one that was given": {subjectValuesAreCopies}}},
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
		}, found{"a value in the table changed with the one that was exported": {subjectValuesAreCopies}}},
		"a statement for each row": {func(store *Store) {
			var sent atomic.Int64
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
					rows, err := s.good.Apply(ctx, id, steps)
					for _, n := range rows {
						sent.Add(n)
					}
					return rows, err
				}
			})(store)
			statements := store.Statements
			store.Statements = func() int { return statements() + int(sent.Load()) }
		}, found{"statements for one row in each table, and": {subjectStatementsDoNotDependOnRows}}},
		"a statement for each row of an export": {func(store *Store) {
			var sent atomic.Int64
			changesExported(func(*domain.ExportRecord) bool { sent.Add(1); return true })(store)
			statements := store.Statements
			store.Statements = func() int { return statements() + int(sent.Load()) }
		}, found{"statements for one row in each table, and": {subjectStatementsDoNotDependOnRows}}},
		"statements that nobody counts": {func(store *Store) { store.Statements = func() int { return 0 } }, found{
			"Store.Statements counts nothing": {subjectStatementsDoNotDependOnRows},
		}},
	}
}
