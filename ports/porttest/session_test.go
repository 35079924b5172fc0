package porttest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestSessionsThatBreakAPromiseFail(t *testing.T) {
	const (
		committed    = "the stores hold {consents:1"
		notCancelled = "is not context canceled"
		notDeadline  = "is not context deadline exceeded"
	)
	promise.ExpectDefects(t, sessionPromises, brokenStore, defects{
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
		}), found{
			"the stores hold {consents:0": {
				sessionCommitsEverything, sessionRollsEverythingBackOnAnError, sessionRollsBackWhenItsGoroutineExits,
				sessionShowsNothingBeforeItsCommit,
			},
			"swallowed": {sessionFailsWithASwallowedError}, "for a conflict": {sessionFailsWithAHeldBackAppend},
			notCancelled: {sessionRollsBackWhenItsContextIsCancelled, sessionDoesNothingInAContextThatHasEnded},
			notDeadline:  {sessionRollsBackWhenItsDeadlineHasPassed}, "the trail is []": {sessionCannotBeNested},
			"an event changed": {sessionKeepsCopies}, "sessions left 0 events": {sessionFactoryServesManyAtOnce},
			"a conflict is no error": {sessionGivesNothingAwayInErrors},
		}},
		"an error commits": {commitsOn(true, false), found{committed: {sessionRollsEverythingBackOnAnError}}},
		"a panic commits":  {commitsOn(false, true), found{committed: {sessionRollsEverythingBackOnAPanic}}},
		"an exit commits":  {commitsOnExit, found{committed: {sessionRollsBackWhenItsGoroutineExits}}},
		"a panic becomes an error": {recovers(func(value any) error { return fmt.Errorf("panic: %v", value) }), found{
			"although fn panicked": {sessionRollsEverythingBackOnAPanic, sessionLetsAPanicGoOn},
		}},
		"a panic becomes another": {recovers(func(value any) error { panic(fmt.Sprint(value)) }), found{
			"which is not the value": {sessionLetsAPanicGoOn},
		}},
		"errors lose what they are": {changesResult(func(err, ofFn error) error {
			if errors.Is(err, errCause) {
				return errors.New("failed")
			}
			return err
		}), found{"errors.Is does not see": {sessionReturnsTheErrorThatItWasGiven}}},
		"errors lose their type": {changesResult(func(err, ofFn error) error {
			if errors.Is(err, errCause) {
				return onlyIs{err}
			}
			return err
		}), found{"errors.As does not see": {sessionReturnsTheErrorThatItWasGiven}}},
		"contexts are ignored": {ignoresContexts, found{
			committed: {
				sessionRollsBackWhenItsContextIsCancelled, sessionRollsBackWhenItsDeadlineHasPassed,
				sessionDoesNothingInAContextThatHasEnded,
			},
			"took longer than": {sessionStopsWaitingWhenItsContextEnds},
		}},
		"ended contexts have another error": {changesResult(func(err, _ error) error {
			if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				return errNowhere
			}
			return err
		}), found{
			notCancelled: {sessionRollsBackWhenItsContextIsCancelled, sessionDoesNothingInAContextThatHasEnded},
			notDeadline:  {sessionRollsBackWhenItsDeadlineHasPassed, sessionStopsWaitingWhenItsContextEnds},
		}},
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
		}), found{
			"Do returned <nil> after a conflict": {sessionFailsWithASwallowedError},
			"Do returned <nil> for a conflict":   {sessionFailsWithAHeldBackAppend},
			"a conflict is no error":             {sessionGivesNothingAwayInErrors},
		}},
		"a Do inside fn is a session of its own": {nests, found{
			"a Do inside fn returned <nil>": {sessionCannotBeNested},
			"a nested Do is no error":       {sessionGivesNothingAwayInErrors},
		}},
		"a Do inside fn is the session around it": {joins, found{
			"a Do inside fn returned <nil>": {sessionCannotBeNested},
			"a nested Do is no error":       {sessionGivesNothingAwayInErrors},
		}},
		"a session lives on":        {livesOn, found{"1 events were written": {sessionCannotBeUsedAfterItsEnd}}},
		"references are kept":       {keepsReferences, found{"a restriction changed": {sessionKeepsCopies}}},
		"references are handed out": {sharesPayloads, found{"an event changed": {sessionKeepsCopies}}},
		"a connection is taken at once": {connects(true, never), found{
			"has opened 1 connections": {sessionOpensNoConnectionBeforeItsFirstStatement},
		}},
		"a connection is kept after an error": {connects(false, afterError), found{
			"ended with an error": {sessionLeavesNoConnectionBehind},
		}},
		"a connection is kept after a panic": {connects(false, afterPanic), found{
			"ended with a panic": {sessionLeavesNoConnectionBehind},
		}},
		"connections are not seen": {func(store *Store) { store.Connections = func() int { return 0 } }, found{
			"does not see the connection": {sessionOpensNoConnectionBeforeItsFirstStatement},
		}},
		"consent is seen before its commit": {readsDirt, found{
			"another session sees {consents:1": {sessionShowsNothingBeforeItsCommit},
		}},
		"a deadlock fails": {locksOnce, found{"one failed": {sessionIsTriedAgainAfterADeadlock}}},
		"evidence of lost attempts is kept": {keepsLostAttempts, found{
			"one left the events": {sessionIsTriedAgainAfterADeadlock},
		}},
		"a second session is turned away": {turnsAway, found{
			notDeadline: {sessionStopsWaitingWhenItsContextEnds}, "one failed": {sessionIsTriedAgainAfterADeadlock},
			"a session failed among others": {sessionFactoryServesManyAtOnce},
		}},
		"a store that is away is no error": {deniesBeingAway, found{
			"returned <nil>": {sessionReportsAStoreThatCannotBeReached},
		}},
		"a conflict repeats a key": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			rows, err := c.apply()
			if errors.Is(err, domain.ErrConflict) {
				err = fmt.Errorf("%w: (tenant, number)=(%s)", err, c.id)
			}
			return rows, err
		}}.breaks, found{"the error of a row that others refer to gives something away": {sessionGivesNothingAwayInErrors}}},
		"an error repeats an id": {says, found{"gives something away": {sessionGivesNothingAwayInErrors}}},
	})
}

// onlyIs is an error whose cause errors.As does not see.
type onlyIs struct{ cause error }

func (onlyIs) Error() string          { return "failed" }
func (o onlyIs) Is(target error) bool { return errors.Is(o.cause, target) || o.cause == target }
