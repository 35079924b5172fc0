package saga_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// outcome is the expected state of an entry after a run.
type outcome struct {
	status  domain.OutboxStatus
	class   string        // the last error
	retryIn time.Duration // 0 means no retry
	event   domain.EventType
	payload domain.Payload
}

func succeeded(event domain.EventType, attempts int, absent bool) outcome {
	return outcome{domain.OutboxSucceeded, "", 0, event, domain.Payload{
		"target": "desk", "external": true, "already_absent": absent, "attempts": attempts,
	}}
}

func spared(event domain.EventType, attempts int) outcome {
	want := succeeded(event, attempts, false)
	want.status, want.payload["spared"] = domain.OutboxSpared, true
	return want
}

func failed(event domain.EventType, attempts int, class string, retryIn time.Duration) outcome {
	return outcome{domain.OutboxFailed, class, retryIn, event, domain.Payload{
		"target": "desk", "external": true, "error": class, "abandoned": false, "attempts": attempts,
	}}
}

func abandoned(event domain.EventType, attempts int, class string) outcome {
	return outcome{domain.OutboxAbandoned, class, 0, event, domain.Payload{
		"target": "desk", "external": true, "error": class, "abandoned": true, "attempts": attempts,
	}}
}

const (
	erased       = domain.EventErasureStepSucceeded
	notErased    = domain.EventErasureStepFailed
	rectified    = domain.EventRectificationStepSucceeded
	notRectified = domain.EventRectificationStepFailed
)

// wantOutcome runs a batch of one entry and checks its outcome. If an event type is given, the entry is the last open
// entry of its erasure or rectification. An event of this type must then record the completion.
func (w world) wantOutcome(t *testing.T, entry domain.OutboxEntry, want outcome, completes domain.EventType) {
	t.Helper()
	settlement := domain.Settlement{Entry: entry, Status: want.status, LastError: want.class}
	if want.retryIn > 0 {
		next := noon.Add(want.retryIn)
		settlement.NextAttemptAt = &next
	}
	event := func(id string, eventType domain.EventType, payload domain.Payload) domain.AuditEvent {
		payload["operation_id"] = "operation"
		return domain.AuditEvent{
			EventID: id, EventType: eventType, SubjectRef: entry.SubjectID, OccurredAt: noon, Payload: payload,
		}
	}
	expected := []any{event("id-2", want.event, want.payload)}
	if completes != "" {
		expected = append(expected, event("id-3", completes, domain.Payload{}))
	}
	sessions := 1
	if want.class == "lost" && w.Configured().MaxAttempts == 0 {
		sessions = 2 // the first one reads the first claim
	}
	gomock.InOrder(
		w.expectSession(),
		w.outbox.EXPECT().Claim(anything, claimWith(func(query domain.ClaimQuery) bool {
			return query.Now.Equal(noon) && query.LeaseUntil.Equal(noon.Add(5*time.Minute)) && query.LeaseToken == "id-1"
		})).Return([]domain.OutboxEntry{entry}, nil),
		w.expectSession().Times(sessions),
		w.outbox.EXPECT().Settle(anything, []domain.Settlement{settlement}).
			Return([]domain.SettleResult{{Completes: completes != ""}}, nil),
		w.audit.EXPECT().Append(anything, expected...),
	)
	w.mustSettle(t, 1)
}

func TestAnErasureThatSucceeds(t *testing.T) {
	for _, absent := range []bool{false, true} {
		for _, attempts := range []int{1, 3, 8} {
			for _, completes := range []domain.EventType{"", domain.EventErasureCompleted} {
				t.Run(fmt.Sprint(absent, attempts, completes), func(t *testing.T) {
					entry := claimed(t, domain.OperationErase, attempts, 1)[0]
					system := uncalled(t)
					system.EXPECT().EraseSubject(anything, entry.Ref, callOf(entry)).Return(absent, nil)
					newWorld(t, nil, system).wantOutcome(t, entry, succeeded(erased, attempts, absent), completes)
				})
			}
		}
	}
}

// A person was erased while the system was down, and a new person has the ref since.
func TestARecordThatIsSparedEndsTheEntry(t *testing.T) {
	for _, err := range []error{domain.ErrSpared, fmt.Errorf("x: %w", domain.ErrSpared)} {
		for _, completes := range []domain.EventType{"", domain.EventErasureCompleted} {
			entry := claimed(t, domain.OperationErase, 3, 1)[0]
			system := uncalled(t)
			system.EXPECT().EraseSubject(anything, entry.Ref, callOf(entry)).Return(true, err)
			newWorld(t, nil, system).wantOutcome(t, entry, spared(erased, 3), completes)
		}
	}
}

func TestAnErasureThatFails(t *testing.T) {
	later := func(after time.Duration, cause error) error {
		return &domain.RetryLaterError{Resolver: "desk", Message: "DELETE returned 429", After: after, Err: cause}
	}
	for name, c := range map[string]struct {
		attempts int
		erase    erases
		want     outcome
	}{
		"with any error":                {1, responds(false, errBoom), failed(notErased, 1, "internal", 30*time.Second)},
		"though it says already absent": {1, responds(true, errBoom), failed(notErased, 1, "internal", 30*time.Second)},
		"with a code": {
			1, responds(false, domain.ErrUnavailable), failed(notErased, 1, "unavailable", 30*time.Second),
		},
		"by its deadline": {
			1, responds(false, context.DeadlineExceeded), failed(notErased, 1, "timeout", 30*time.Second),
		},
		"by a cancellation": {
			1, responds(false, fmt.Errorf("x: %w", context.Canceled)), failed(notErased, 1, "canceled", 30*time.Second),
		},
		"with a panic":                  {1, panics, failed(notErased, 1, "panic", 30*time.Second)},
		"with the end of its goroutine": {1, exits, failed(notErased, 1, "panic", 30*time.Second)},
		"until later": {
			1, responds(false, later(0, nil)), failed(notErased, 1, "retry_later", 30*time.Second),
		},
		"until much later": {
			1, responds(false, later(5*time.Minute, nil)), failed(notErased, 1, "retry_later", 5*time.Minute),
		},
		"until later than the longest wait": {
			1, responds(false, fmt.Errorf("x: %w", later(3*time.Hour, nil))), failed(notErased, 1, "retry_later", 3*time.Hour),
		},
		"until next year": {
			1, responds(false, later(9000*time.Hour, nil)), failed(notErased, 1, "retry_later", 24*time.Hour),
		},
		"until sooner than it would wait": {
			3, responds(false, later(time.Second, nil)), failed(notErased, 3, "retry_later", 2*time.Minute),
		},
		"until some time in the past": {
			1, responds(false, later(-time.Hour, nil)), failed(notErased, 1, "retry_later", 30*time.Second),
		},
		"until later, for a reason": {
			1, responds(false, later(0, domain.ErrUnavailable)), failed(notErased, 1, "unavailable", 30*time.Second),
		},
		"before the last time":           {7, responds(false, errBoom), failed(notErased, 7, "internal", 32*time.Minute)},
		"for the last time":              {8, responds(false, errBoom), abandoned(notErased, 8, "internal")},
		"with a panic for the last time": {8, panics, abandoned(notErased, 8, "panic")},
		"until later for the last time":  {8, responds(false, later(time.Hour, nil)), abandoned(notErased, 8, "retry_later")},
		"for good":                       {1, responds(false, refused), abandoned(notErased, 1, "refused")},
		"for good, wrapped": {
			2, responds(false, fmt.Errorf("x: %w", refused)), abandoned(notErased, 2, "refused"),
		},
		"for good, after its deadline": {
			1, responds(false, &domain.ResolverError{Err: context.DeadlineExceeded}), abandoned(notErased, 1, "refused"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			entry := claimed(t, domain.OperationErase, c.attempts, 1)[0]
			newWorld(t, eightTimes, desk(t, c.erase)).wantOutcome(t, entry, c.want, "")
		})
	}
}

// explosive is an error whose methods panic.
type explosive struct{}

func (explosive) Error() string { panic(errBoom) }
func (explosive) Is(error) bool { panic(errBoom) }
func (explosive) As(any) bool   { panic(errBoom) }

func TestAnErrorWhoseMethodsPanicIsAFailedAttempt(t *testing.T) {
	w := newWorld(t, nil, desk(t, responds(false, explosive{})))
	w.wantOutcome(t, claimed(t, domain.OperationErase, 1, 1)[0],
		failed(notErased, 1, "panic", saga.DefaultFirstBackoff), "")
}

func panics(context.Context, domain.SubjectRef, string) (bool, error) { panic(errBoom) }

func exits(context.Context, domain.SubjectRef, string) (bool, error) {
	runtime.Goexit()
	return false, nil
}

func TestAnEntryThatWasTriedTooOftenIsAbandonedWithoutACall(t *testing.T) {
	for _, attempts := range []int{9, 100} { // the process of the last attempt died
		entry := claimed(t, domain.OperationErase, attempts, 1)[0]
		newWorld(t, eightTimes, uncalled(t)).wantOutcome(t, entry, abandoned(notErased, attempts, "lost"), "")
	}
}

// An entry is abandoned if the store returns it although the runner did not request entries of its system.
func TestAnEntryOfAnUnknownSystemIsAbandonedImmediately(t *testing.T) {
	entry := claimed(t, domain.OperationErase, 1, 1)[0]
	other := mocks.NewMockResolver(gomock.NewController(t))
	other.EXPECT().Name().Return("another").AnyTimes()
	newWorld(t, nil, ports.Resolver(other)).wantOutcome(t, entry, abandoned(notErased, 1, "refused"), "")
}

func TestARectification(t *testing.T) {
	for name, c := range map[string]struct {
		attempts  int
		err       error
		want      outcome
		completes domain.EventType
	}{
		"that succeeds":                   {2, nil, succeeded(rectified, 2, false), ""},
		"that completes":                  {1, nil, succeeded(rectified, 1, false), domain.EventRectificationCompleted},
		"that fails":                      {2, errBoom, failed(notRectified, 2, "internal", time.Minute), ""},
		"that is refused":                 {1, refused, abandoned(notRectified, 1, "refused"), ""},
		"that is spared":                  {2, domain.ErrSpared, spared(rectified, 2), ""},
		"that fails for the last time":    {8, errBoom, abandoned(notRectified, 8, "internal"), ""},
		"that fails behind some wrapping": {1, fmt.Errorf("x: %w", refused), abandoned(notRectified, 1, "refused"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			entry := claimed(t, domain.OperationRectify, c.attempts, 1)[0]
			system := uncalled(t)
			system.EXPECT().RectifySubject(anything, entry.Ref, callOf(entry), entry.Corrections).Return(c.err)
			newWorld(t, eightTimes, system).wantOutcome(t, entry, c.want, c.completes)
		})
	}
}

func eightTimes(c *saga.Config) { c.MaxAttempts = 8 }

// An entry is abandoned at the age GiveUpAfter, even after few attempts. The store of this test does not know the first
// claim, so the age counts from the intake. A first attempt is never the last one.
func TestAnEntryIsGivenUpByItsAge(t *testing.T) {
	for name, c := range map[string]struct {
		age      time.Duration
		attempts int
		want     outcome
	}{
		"young, and tried often":     {time.Hour, 300, failed(notErased, 300, "internal", time.Hour)},
		"almost too old":             {7*24*time.Hour - time.Microsecond, 180, failed(notErased, 180, "internal", time.Hour)},
		"too old":                    {7 * 24 * time.Hour, 180, abandoned(notErased, 180, "internal")},
		"too old at its first trial": {8 * 24 * time.Hour, 1, failed(notErased, 1, "internal", 30*time.Second)},
		"too old, and lost":          {8 * 24 * time.Hour, 2000, abandoned(notErased, 2000, "lost")},
	} {
		t.Run(name, func(t *testing.T) {
			entry := claimed(t, domain.OperationErase, c.attempts, 1)[0]
			entry.EnqueuedAt = noon.Add(-c.age)
			newWorld(t, nil, desk(t, responds(false, errBoom))).wantOutcome(t, entry, c.want, "")
		})
	}
	t.Run("too old, and carried out", func(t *testing.T) {
		entry := claimed(t, domain.OperationErase, 1, 1)[0]
		entry.EnqueuedAt = noon.Add(-1000 * time.Hour)
		newWorld(t, nil, desk(t, responds(false, nil))).wantOutcome(t, entry, succeeded(erased, 1, false), "")
	})
}

func TestARectificationIsAbandonedBySystemsThatDoNotRectify(t *testing.T) {
	system := mocks.NewMockResolver(gomock.NewController(t))
	system.EXPECT().Name().Return("desk").AnyTimes()
	entry := claimed(t, domain.OperationRectify, 1, 1)[0]
	newWorld(t, nil, ports.Resolver(system)).wantOutcome(t, entry, abandoned(notRectified, 1, "refused"), "")
}

func TestAnUnknownOperationIsAbandonedWithoutACallOrAnEvent(t *testing.T) {
	entry := claimed(t, "of a later version", 1, 1)[0]
	w := newWorld(t, nil, uncalled(t))
	w.expectSession().Times(2)
	w.expectClaim(entry)
	w.outbox.EXPECT().Settle(anything, []domain.Settlement{
		{Entry: entry, Status: domain.OutboxAbandoned, LastError: "refused"},
	}).Return(make([]domain.SettleResult, 1), nil)
	w.audit.EXPECT().Append(anything) // without events
	w.mustSettle(t, 1)
}
