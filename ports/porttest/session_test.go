package porttest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

const (
	sessionCommit, sessionError = "session commits everything", "session rolls everything back on an error"
	sessionReturned             = "session returns the error that it was given"
	sessionPanic, sessionGoesOn = "session rolls everything back on a panic", "session lets a panic go on"
	sessionExit                 = "session rolls back when its goroutine exits"
	sessionCancelled            = "session rolls back when its context is cancelled"
	sessionDeadline             = "session rolls back when its deadline has passed"
	sessionLate                 = "session does nothing in a context that has ended"
	sessionWaits                = "session stops waiting when its context ends"
	sessionSwallowed            = "session fails with a swallowed error"
	sessionHeldBack             = "session fails with a held-back append"
	sessionNested, sessionEnded = "session cannot be nested", "session cannot be used after its end"
	sessionCopies               = "session keeps copies"
	sessionConnects             = "session opens no connection before its first statement"
	sessionDisconnects          = "session leaves no connection behind"
	sessionIsolated             = "session shows nothing before its commit"
	sessionDeadlock             = "session is tried again after a deadlock"
	sessionMany                 = "session factory serves many at once"
	sessionAway                 = "session reports a store that cannot be reached"
	sessionTexts                = "session gives nothing away in errors"
)

func TestSessionsThatBreakAPromiseFail(t *testing.T) {
	type found = map[string]string
	const committed, notCancelled, notDeadline = "the stores hold {consents:1", "is not context canceled", "is not context deadline exceeded"
	expectDefects(t, sessionCases, map[string]storeDefect{
		"nothing commits": {
			changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
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
			}),
			found{
				sessionCommit: "the stores hold {consents:0", sessionError: "the stores hold {consents:0", sessionExit: "the stores hold {consents:0",
				sessionSwallowed: "swallowed", sessionHeldBack: "for a conflict", sessionCancelled: notCancelled, sessionDeadline: notDeadline,
				sessionLate: notCancelled, sessionNested: "the trail is []", sessionCopies: "an event changed",
				sessionIsolated: "the stores hold {consents:0", sessionMany: "sessions left 0 events", sessionTexts: "a conflict is no error",
			},
		},
		"an error commits": {commitsOn(true, false), found{sessionError: committed}},
		"a panic commits":  {commitsOn(false, true), found{sessionPanic: committed}},
		"an exit commits":  {commitsOnExit, found{sessionExit: committed}},
		"a panic becomes an error": {
			recovers(func(value any) error { return fmt.Errorf("panic: %v", value) }),
			found{sessionPanic: "although fn panicked", sessionGoesOn: "although fn panicked"},
		},
		"a panic becomes another": {
			recovers(func(value any) error { panic(fmt.Sprint(value)) }),
			found{sessionGoesOn: "which is not the value"},
		},
		"errors lose what they are": {
			changesResult(func(err, ofFn error) error {
				if errors.Is(err, errCause) {
					return errors.New("failed")
				}
				return err
			}),
			found{sessionReturned: "errors.Is does not see"},
		},
		"errors lose their type": {
			changesResult(func(err, ofFn error) error {
				if errors.Is(err, errCause) {
					return onlyIs{err}
				}
				return err
			}),
			found{sessionReturned: "errors.As does not see"},
		},
		"contexts are ignored": {
			ignoresContexts,
			found{
				sessionCancelled: committed, sessionDeadline: committed, sessionLate: committed, sessionWaits: "took longer than",
			},
		},
		"ended contexts have another error": {
			changesResult(func(err, _ error) error {
				if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
					return errNowhere
				}
				return err
			}),
			found{
				sessionCancelled: notCancelled, sessionDeadline: notDeadline, sessionLate: notCancelled, sessionWaits: notDeadline,
			},
		},
		"deadlines are called cancellations": {
			changesResult(func(err, _ error) error {
				if errors.Is(err, context.DeadlineExceeded) {
					return context.Canceled
				}
				return err
			}),
			found{sessionDeadline: notDeadline, sessionLate: notDeadline, sessionWaits: notDeadline},
		},
		"a refusal does not fail the session": {
			refusesWithoutFailing, found{sessionSwallowed: "Do returned <nil> after a conflict"},
		},
		"conflicts are swallowed": {
			changesResult(func(err, ofFn error) error {
				if ofFn == nil && errors.Is(err, domain.ErrConflict) {
					return nil
				}
				return err
			}),
			found{
				sessionSwallowed: "Do returned <nil> after a conflict", sessionHeldBack: "Do returned <nil> for a conflict",
				sessionTexts: "a conflict is no error",
			},
		},
		"a Do inside fn is a session of its own": {
			nests, found{sessionNested: "a Do inside fn returned <nil>", sessionTexts: "a nested Do is no error"},
		},
		"a Do inside fn is the session around it": {
			joins, found{sessionNested: "a Do inside fn returned <nil>", sessionTexts: "a nested Do is no error"},
		},
		"a session lives on":                  {livesOn, found{sessionEnded: "1 events were written"}},
		"references are kept":                 {keepsReferences, found{sessionCopies: "a restriction changed"}},
		"references are handed out":           {sharesPayloads, found{sessionCopies: "an event changed"}},
		"a connection is taken at once":       {connects(true, never), found{sessionConnects: "has opened 1 connections"}},
		"a connection is kept after an error": {connects(false, afterError), found{sessionDisconnects: "ended with an error"}},
		"a connection is kept after a panic":  {connects(false, afterPanic), found{sessionDisconnects: "ended with a panic"}},
		"connections are not seen": {
			func(store *Store) { store.Connections = func() int { return 0 } }, found{sessionConnects: "does not see the connection"},
		},
		"consent is seen before its commit": {readsDirt, found{sessionIsolated: "another session sees {consents:1"}},
		"a deadlock fails":                  {locksOnce, found{sessionDeadlock: "one failed"}},
		"evidence of lost attempts is kept": {keepsLostAttempts, found{sessionDeadlock: "one left the events"}},
		"a second session is turned away": {
			turnsAway,
			found{sessionWaits: notDeadline, sessionDeadlock: "one failed", sessionMany: "a session failed among others"},
		},
		"a store that is away is no error": {
			deniesBeingAway, found{sessionAway: "returned <nil>"},
		},
		"a conflict repeats a key": {
			changesSubjects(func(s *brokenSubjects) {
				s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
					rows, err := s.good.Apply(ctx, id, steps)
					if errors.Is(err, domain.ErrConflict) {
						err = fmt.Errorf("%w: (tenant, number)=(%s)", err, id)
					}
					return rows, err
				}
			}),
			found{sessionTexts: "the error of a row that others refer to gives something away"},
		},
		"an error repeats an id": {says, found{sessionTexts: "gives something away"}},
	})
}

// onlyIs is an error whose cause errors.As does not see.
type onlyIs struct{ cause error }

func (onlyIs) Error() string          { return "failed" }
func (o onlyIs) Is(target error) bool { return errors.Is(o.cause, target) || o.cause == target }
