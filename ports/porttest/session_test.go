package porttest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestSessionsThatBreakAPromiseFail(t *testing.T) {
	const (
		committed    = "the stores hold {consents:1"
		notCancelled = "is not context canceled"
		notDeadline  = "is not context deadline exceeded"
	)
	promise.ExpectDefects(t, runPromises, brokenStore, defects{
		"nothing commits": {changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
			err := do(ctx, func(ctx context.Context, s ports.Session) error {
				if err := fn(ctx, s); err != nil {
					return err
				}
				return errUndo
			})
			if errors.Is(err, errUndo) {
				return nil
			}
			return err
		}), found{"the stores hold {consents:0": {sessionCommitsEverything}}},
		"nothing is called at the end": {changesAfterEnd(func(ports.Session, func(context.Context, error)) {}), found{
			"after a commit with one event [] were called": {sessionCallsAfterItsCommit},
			"after a commit [] were called":                {sessionReportsItsEnd},
		}},
		"AfterEnd functions are called immediately": {
			changesAfterEnd(func(_ ports.Session, fn func(context.Context, error)) { fn(context.Background(), nil) }), found{
				"were called without an error before the commit": {sessionCallsAfterItsCommit},
				"were called before the end":                     {sessionReportsItsEnd},
			},
		},
		"AfterEnd functions are called twice": {
			changesAfterEnd(func(s ports.Session, fn func(context.Context, error)) {
				s.AfterEnd(fn)
				s.AfterEnd(fn)
			}), found{
				"after a commit with one event [first of 1 first of 1": {sessionCallsAfterItsCommit},
				"after a commit [first nil first nil":                  {sessionReportsItsEnd},
			},
		},
		"AfterEnd functions do not get the error": {
			changesAfterEnd(func(s ports.Session, fn func(context.Context, error)) {
				s.AfterEnd(func(ctx context.Context, _ error) { fn(ctx, nil) })
			}), found{
				"after a rollback [first of 0 second of 0] were called": {sessionCallsAfterItsCommit},
				"after an error [first nil second nil] were called":     {sessionReportsItsEnd},
			},
		},
		"AfterEnd functions are called only after a commit": {
			changesAfterEnd(func(s ports.Session, fn func(context.Context, error)) {
				s.AfterEnd(func(ctx context.Context, err error) {
					if err == nil {
						fn(ctx, nil)
					}
				})
			}), found{"after an error [] were called": {sessionReportsItsEnd}},
		},
		"AfterEnd functions run inside the session": {callsAfterEndInside, found{
			"a function of AfterEnd cannot open a session": {sessionCallsAfterItsCommit, sessionReportsItsEnd},
		}},
		"no session is observed": {changesObserver(func(ports.Observer) ports.Observer {
			return startFunc(
				func(ctx context.Context, _ observation.Activity) (context.Context, func(observation.ActivityEnd)) {
					return ctx, nil
				},
			)
		}), found{"0 sessions began and [] were observed": {sessionIsObserved}}},
		"the context of the activity is lost": {changesObserver(func(o ports.Observer) ports.Observer {
			return startFunc(
				func(ctx context.Context, a observation.Activity) (context.Context, func(observation.ActivityEnd)) {
					_, end := o.Start(ctx, a)
					return ctx, end
				},
			)
		}), found{"the context of fn does not derive": {sessionIsObserved}}},
		"every session is observed as a success": {changesObserver(func(o ports.Observer) ports.Observer {
			return startFunc(
				func(ctx context.Context, a observation.Activity) (context.Context, func(observation.ActivityEnd)) {
					ctx, end := o.Start(ctx, a)
					return ctx, func(observation.ActivityEnd) { end(observation.ActivityEnd{Outcome: domain.OutcomeOK}) }
				},
			)
		}), found{"[session ok 0 session ok 0": {sessionIsObserved}}},
		"a probe always fails": {changesProbes(func(context.Context) error { return errNowhere }, probeUnreachable), found{
			"the probe of a store that is ready failed": {sessionFactoryIsProbed},
		}},
		"a probe never ends": {changesProbes(func(context.Context) error { return nil }, probeUnreachable), found{
			"a probe whose context has ended returned <nil>": {sessionFactoryIsProbed},
		}},
		"a probe sees a store that cannot be reached": {changesProbes(probeReachable, probeReachable), found{
			"a probe of a store that cannot be reached returned <nil>": {sessionFactoryIsProbed},
		}},
		"an error commits": {commitsOn(true, false), found{committed: {sessionRollsEverythingBackOnAnError}}},
		"a panic commits":  {commitsOn(false, true), found{committed: {sessionRollsEverythingBackOnAPanic}}},
		"an exit commits":  {commitsOnExit, found{committed: {sessionRollsBackWhenItsGoroutineExits}}},
		"a panic becomes an error": {swallowsPanics(func(value any) error { return fmt.Errorf("panic: %v", value) }), found{
			"although fn panicked": {sessionRollsEverythingBackOnAPanic},
		}},
		"a panic becomes another": {swallowsPanics(func(value any) error { panic(fmt.Sprint(value)) }), found{
			"which is not the value": {sessionLetsAPanicGoOn},
		}},
		"errors lose their type": {changesResult(func(err, ofFn error) error {
			if errors.Is(err, errCause) {
				return errors.New("failed")
			}
			return err
		}), found{"errors.Is does not see": {sessionReturnsTheErrorThatItWasGiven}}},
		"causes lose their type": {changesResult(func(err, ofFn error) error {
			if errors.Is(err, errCause) {
				return onlyIs{err}
			}
			return err
		}), found{"errors.As does not see": {sessionReturnsTheErrorThatItWasGiven}}},
		"contexts are ignored": {ignoresContexts, found{committed: {sessionRollsBackWhenItsContextIsCancelled}}},
		"ended contexts have another error": {changesResult(func(err, _ error) error {
			if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				return errNowhere
			}
			return err
		}), found{notCancelled: {sessionRollsBackWhenItsContextIsCancelled}}},
		"deadlines are called cancellations": {changesResult(func(err, _ error) error {
			if errors.Is(err, context.DeadlineExceeded) {
				return context.Canceled
			}
			return err
		}), found{
			notDeadline: {
				sessionRollsBackWhenItsDeadlineHasPassed, sessionDoesNothingInAContextThatHasEnded,
				sessionStopsWaitingWhenItsContextEnds,
			},
		}},
		"a refusal does not fail the session": {refusesWithoutFailing, found{
			"Do returned <nil> after a conflict": {sessionFailsWithASwallowedError},
		}},
		"conflicts are swallowed": {changesResult(func(err, ofFn error) error {
			if ofFn == nil && errors.Is(err, domain.ErrConflict) {
				return nil
			}
			return err
		}), found{"Do returned <nil> for a conflict": {sessionFailsWithAHeldBackAppend}}},
		"a Do inside fn is a session of its own": {ignoresOuterSession, found{
			"a Do inside fn returned <nil>": {sessionCannotBeNested},
		}},
		"a Do inside fn is the session around it": {reusesOuterSession, found{
			"a Do inside fn returned <nil>": {sessionCannotBeNested},
		}},
		"a session lives on": {appendsAfterEnd, found{
			"1 events were written": {sessionCannotBeUsedAfterItsEnd},
		}},
		"references are kept":       {keepsReferences, found{"a restriction changed": {sessionKeepsCopies}}},
		"references are handed out": {sharesPayloads, found{"an event changed": {sessionKeepsCopies}}},
		"a connection is taken immediately": {opensConnections(true, never), found{
			"has opened 1 connections": {sessionOpensNoConnectionBeforeItsFirstStatement},
		}},
		"a connection is kept after an error": {opensConnections(false, afterError), found{
			"ended with an error": {sessionLeavesNoConnectionBehind},
		}},
		"a connection is kept after a panic": {opensConnections(false, afterPanic), found{
			"ended with a panic": {sessionLeavesNoConnectionBehind},
		}},
		"connections are not seen": {func(store *Store) { store.Connections = func() int { return 0 } }, found{
			"does not see the connection": {sessionOpensNoConnectionBeforeItsFirstStatement},
		}},
		"consent is seen before its commit": {readsUncommitted, found{
			"another session sees {consents:1": {sessionShowsNothingBeforeItsCommit},
		}},
		"a deadlock fails": {neverRetriesDeadlocks, found{"one failed": {sessionIsTriedAgainAfterADeadlock}}},
		"evidence of lost attempts is kept": {keepsLostAttempts, found{
			"one left the events": {sessionIsTriedAgainAfterADeadlock},
		}},
		"a second session is refused": {acceptsOneSession, found{
			"a concurrent session failed": {sessionFactoryIsSafeForConcurrentUse},
		}},
		"an unreachable store without an error": {ignoresUnreachable, found{
			"returned <nil>": {sessionReportsAStoreThatCannotBeReached},
		}},
		"a conflict repeats a key": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			rows, err := c.apply()
			if errors.Is(err, domain.ErrConflict) {
				err = fmt.Errorf("%w: (tenant, number)=(%s)", err, c.id)
			}
			return rows, err
		}}.breaks, found{"the error of a row that others refer to contains a value": {sessionErrorsContainNoPersonalData}}},
		"an error repeats an id": {namesValueInError, found{"contains a value": {sessionErrorsContainNoPersonalData}}},
	})
}

// onlyIs is an error whose cause is found by errors.Is, but not by errors.As.
type onlyIs struct{ cause error }

func (onlyIs) Error() string          { return "failed" }
func (o onlyIs) Is(target error) bool { return errors.Is(o.cause, target) || o.cause == target }
