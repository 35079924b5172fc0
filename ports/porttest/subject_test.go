package porttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func TestASubjectStoreThatKeepsItsPromisesPasses(t *testing.T) {
	TestSubjectStore(t, inMemory(right))
}

// Each of these stores breaks promises, and is found out for what it broke and for nothing else.
func TestSubjectStoresThatBreakAPromiseFail(t *testing.T) {
	expectDefects(t, subjectPromises, inMemory, topics(map[string]defects{
		"ids": idDefects(), "apply": applyDefects(), "surrogates": surrogateDefects(), "rectify": rectifyDefects(),
		"export": subjectExportDefects(), "yield": subjectYieldDefects(), "sessions": subjectSessionDefects(),
	}))
}

func TestASubjectStoreWithoutStatementsSaysWhatToDo(t *testing.T) {
	expectFailures(t, subjectPromises, inMemory(func(store *Store) { store.Statements = nil }), found{
		"Store.Statements is not set": {subjectIDsAreCheckedBeforeAnyStatement, subjectStatementsDoNotDependOnRows},
	})
}

// brokenSubjects is a subject store in which functions stand for methods of the good one.
type brokenSubjects struct {
	good ports.SubjectStore

	lock    func(ctx context.Context, id domain.SubjectID, at time.Time) error
	hold    func(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error)
	apply   func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error)
	rectify func(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error)
	export  func(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error
}

// changesSubjects is a defect of the subject store of every session.
func changesSubjects(change func(s *brokenSubjects)) func(*Store) {
	return changesSessions(func(s ports.Session) replaced {
		good := s.Subjects()
		broken := &brokenSubjects{
			good: good, lock: good.Lock, hold: good.LockToRectify, apply: good.Apply, rectify: good.Rectify, export: good.Export,
		}
		change(broken)
		return replaced{Session: s, subjects: broken}
	})
}

func (s *brokenSubjects) Lock(ctx context.Context, id domain.SubjectID, at time.Time) error {
	return s.lock(ctx, id, at)
}

func (s *brokenSubjects) LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	return s.hold(ctx, id)
}

func (s *brokenSubjects) Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
	return s.apply(ctx, id, steps)
}

func (s *brokenSubjects) Rectify(
	ctx context.Context, id domain.SubjectID, step domain.RectificationStep,
) (int64, error) {
	return s.rectify(ctx, id, step)
}

func (s *brokenSubjects) Export(
	ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	return s.export(ctx, id, yield)
}

// inEachCall is a defect of every call about a subject.
func inEachCall(before func(ctx context.Context, good ports.SubjectStore, id domain.SubjectID) error) func(*Store) {
	return changesSubjects(func(s *brokenSubjects) {
		s.lock = func(ctx context.Context, id domain.SubjectID, at time.Time) error {
			return errors.Join(before(ctx, s.good, id), s.good.Lock(ctx, id, at))
		}
		s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
			early := before(ctx, s.good, id)
			rows, err := s.good.Apply(ctx, id, steps)
			return rows, errors.Join(early, err)
		}
		s.rectify = func(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
			early := before(ctx, s.good, id)
			rows, err := s.good.Rectify(ctx, id, step)
			return rows, errors.Join(early, err)
		}
		s.export = func(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
			return errors.Join(before(ctx, s.good, id), s.good.Export(ctx, id, yield))
		}
	})
}
