package porttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestASubjectStoreThatKeepsItsPromisesPasses(t *testing.T) {
	TestSubjectStore(t, inMemory(noDefect))
}

func TestSubjectStoresThatBreakAPromiseFail(t *testing.T) {
	promise.ExpectDefects(t, subjectStorePromises, brokenStore, promise.Topics(map[string]defects{
		"ids": idDefects(), "apply": applyDefects(), "shared": sharedDefects(), "surrogates": surrogateDefects(),
		"cells": cellDefects(), "rectify": rectifyDefects(), "keys": keyDefects(), "sample": sampleDefects(),
		"export": subjectExportDefects(), "yield": subjectYieldDefects(), "sessions": subjectSessionDefects(),
	}))
}

func TestASubjectStoreWithoutStatementsSaysWhatToDo(t *testing.T) {
	promise.ExpectFailures(t, subjectPromises, inMemory(func(store *Store) { store.Statements = nil }), found{
		"Store.Statements is not set": {subjectIDsAreCheckedBeforeAnyStatement, subjectStatementsDoNotDependOnRows},
	})
}

// subjectCall holds the arguments of a call of a broken SubjectStore, and the correct SubjectStore.
type subjectCall struct {
	ports.SubjectStore
	ctx     context.Context
	id      domain.SubjectID
	at      time.Time
	steps   []datamap.Step
	step    domain.RectificationStep
	query   datamap.KeyQuery
	sampled datamap.SampleQuery
	yield   func(domain.ExportRecord) error
}

func (c subjectCall) lock() (time.Time, error)            { return c.Lock(c.ctx, c.id, c.at) }
func (c subjectCall) hold() (domain.SubjectState, error)  { return c.LockToRectify(c.ctx, c.id) }
func (c subjectCall) state() (domain.SubjectState, error) { return c.State(c.ctx, c.id) }
func (c subjectCall) register() error                     { return c.Register(c.ctx, c.id, c.at) }
func (c subjectCall) apply() ([]int64, error)             { return rowsOf(c.Apply(c.ctx, c.id, c.steps)) }
func (c subjectCall) rectify() (int64, error)             { return c.Rectify(c.ctx, c.id, c.step) }
func (c subjectCall) readKeys() ([]string, error)         { return c.Keys(c.ctx, c.id, c.query) }
func (c subjectCall) readSample() ([]datamap.SampledRow, error) {
	return c.Sample(c.ctx, c.id, c.sampled)
}
func (c subjectCall) export() error { return c.Export(c.ctx, c.id, c.yield) }

// brokenSubjects is a defective SubjectStore. Each function that is set replaces a method. beforeEach runs before each
// method.
type brokenSubjects struct {
	ports.SubjectStore
	beforeEach  func(c *subjectCall) error
	lock        func(c subjectCall) (time.Time, error)
	export      func(c subjectCall) error
	register    func(c subjectCall) error
	hold, state func(c subjectCall) (domain.SubjectState, error)
	apply       func(c subjectCall) ([]int64, error)
	rectify     func(c subjectCall) (int64, error)
	keys        func(c subjectCall) ([]string, error)
	sample      func(c subjectCall) ([]datamap.SampledRow, error)
}

func (s brokenSubjects) breaks(store *Store) {
	changesSessions(func(session ports.Session) replacedStores {
		broken := s
		broken.SubjectStore = session.Subjects()
		return replacedStores{Session: session, subjects: broken}
	})(store)
}

// subjectResult calls s.beforeEach if it is set. It then calls broken, or good if broken is nil.
func subjectResult[R any](
	s brokenSubjects, broken, good func(subjectCall) (R, error), call subjectCall,
) (result R, err error) {
	call.SubjectStore = s.SubjectStore
	var early error
	if s.beforeEach != nil {
		early = s.beforeEach(&call)
	}
	result, err = callOr(broken, good, call)
	return result, errors.Join(early, err)
}

// noResult adapts a method that returns only an error to the parameters of subjectResult.
func noResult(call func(subjectCall) error) func(subjectCall) (struct{}, error) {
	if call == nil {
		return nil
	}
	return func(c subjectCall) (struct{}, error) { return struct{}{}, call(c) }
}

func (s brokenSubjects) Lock(ctx context.Context, id domain.SubjectID, at time.Time) (time.Time, error) {
	return subjectResult(s, s.lock, subjectCall.lock, subjectCall{ctx: ctx, id: id, at: at})
}

func (s brokenSubjects) LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	return subjectResult(s, s.hold, subjectCall.hold, subjectCall{ctx: ctx, id: id})
}

func (s brokenSubjects) State(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	return subjectResult(s, s.state, subjectCall.state, subjectCall{ctx: ctx, id: id})
}

func (s brokenSubjects) Register(ctx context.Context, id domain.SubjectID, at time.Time) error {
	call := subjectCall{ctx: ctx, id: id, at: at}
	return errOf(subjectResult(s, noResult(s.register), noResult(subjectCall.register), call))
}

func (s brokenSubjects) Apply(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step,
) (domain.Applied, error) {
	rows, err := subjectResult(s, s.apply, subjectCall.apply, subjectCall{ctx: ctx, id: id, steps: steps})
	return domain.Applied{Rows: rows}, err
}

func (s brokenSubjects) Rectify(
	ctx context.Context, id domain.SubjectID, step domain.RectificationStep,
) (int64, error) {
	return subjectResult(s, s.rectify, subjectCall.rectify, subjectCall{ctx: ctx, id: id, step: step})
}

func (s brokenSubjects) Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
	call := subjectCall{ctx: ctx, id: id, yield: yield}
	return errOf(subjectResult(s, noResult(s.export), noResult(subjectCall.export), call))
}

func (s brokenSubjects) Keys(ctx context.Context, id domain.SubjectID, query datamap.KeyQuery) ([]string, error) {
	return subjectResult(s, s.keys, subjectCall.readKeys, subjectCall{ctx: ctx, id: id, query: query})
}

func (s brokenSubjects) Sample(
	ctx context.Context, id domain.SubjectID, query datamap.SampleQuery,
) ([]datamap.SampledRow, error) {
	return subjectResult(s, s.sample, subjectCall.readSample, subjectCall{ctx: ctx, id: id, sampled: query})
}
