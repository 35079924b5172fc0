package saga_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/tests/observed"
	"github.com/habeas-data/habeas/ports"
)

// observing configures an observer, and one call at a time.
func observing(recorder ports.Observer) func(*saga.Config) {
	return func(c *saga.Config) { c.Observer, c.Concurrency = recorder, 1 }
}

func TestEachCallIsObserved(t *testing.T) {
	for want, c := range map[string]struct {
		operation domain.Operation
		erase     erases
	}{
		"call desk erase: ok":          {domain.OperationErase, responds(true, nil)},
		"call desk erase: refused":     {domain.OperationErase, responds(false, refused)},
		"call desk erase: internal":    {domain.OperationErase, responds(false, errBoom)},
		"call desk erase: panic":       {domain.OperationErase, panics},
		"call desk erase: timeout":     {domain.OperationErase, hangs},
		"call desk erase: retry_later": {domain.OperationErase, responds(false, &domain.RetryLaterError{})},
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				recorder := &observed.Recorder{}
				w := newWorld(t, observing(recorder), desk(t, c.erase))
				w.expectSession().Times(2)
				w.expectClaim(claimed(t, c.operation, 1, 1)...)
				w.settled()
				w.mustSettle(t, 1)
				recorder.Want(t, "breaker of desk: closed", want)
			})
		})
	}
}

func TestARectificationIsObserved(t *testing.T) {
	recorder, system := &observed.Recorder{}, uncalled(t)
	system.EXPECT().RectifySubject(anything, anything, anything, anything).Return(nil)
	w := newWorld(t, observing(recorder), system)
	w.expectSession().Times(2)
	w.expectClaim(claimed(t, domain.OperationRectify, 1, 1)...)
	w.settled()
	w.mustSettle(t, 1)
	recorder.Want(t, "breaker of desk: closed", "call desk rectify: ok")
}

// If the resolver of an entry is not registered, its name may be any text, so the call is not reported to the observer.
func TestACallOfAnUnknownResolverIsNotObserved(t *testing.T) {
	recorder := &observed.Recorder{}
	w := newWorld(t, observing(recorder), uncalled(t))
	w.expectSession().Times(2)
	entry := claimed(t, domain.OperationErase, 1, 1)[0]
	entry.Resolver = "zoe@example.org"
	w.expectClaim(entry)
	w.settled()
	w.mustSettle(t, 1)
	recorder.Want(t, "breaker of desk: closed")
}

// The resolver gets the context that the observer returned.
func TestACallRunsInTheContextOfItsActivity(t *testing.T) {
	recorder := &observed.Recorder{}
	w := newWorld(t, observing(recorder), desk(t, func(ctx context.Context, _ domain.SubjectRef, _ string) (bool, error) {
		_, inner := ports.StartActivity(ctx, recorder, observation.Activity{Kind: observation.ActivitySession})
		inner.End(observation.ActivityEnd{Outcome: domain.OutcomeOK})
		return false, nil
	}))
	w.expectSession().Times(2)
	w.expectClaim(claimed(t, domain.OperationErase, 1, 1)...)
	w.settled()
	w.mustSettle(t, 1)
	recorder.Want(t, "breaker of desk: closed", "call desk erase > session: ok", "call desk erase: ok")
}

func TestAnObserverThatPanicsChangesNothing(t *testing.T) {
	for _, broken := range []observed.Broken{{}, {AtEnd: true}} {
		w := newWorld(t, observing(broken), desk(t, responds(false, nil)))
		w.expectSession().Times(2)
		w.expectClaim(claimed(t, domain.OperationErase, 1, 1)...)
		got := w.settled()
		w.mustSettle(t, 1)
		if status := (*got)[0][0].Status; status != domain.OutboxSucceeded {
			t.Errorf("the entry is %s", status)
		}
	}
}

func TestTheCircuitBreakerIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, recorder := false, &observed.Recorder{}
		c := newCompany(t, observing(recorder), map[string]erases{
			"crm": func(context.Context, domain.SubjectRef, string) (bool, error) {
				if up {
					return false, nil
				}
				return false, errBoom
			},
		})
		c.enqueue(t, "crm", 12)
		c.runFor(t, 20*time.Second)
		const failed, closed = "call crm erase: internal", "breaker of crm: closed"
		opened := append(slices.Repeat([]string{failed}, 10), "breaker of crm: open")
		recorder.Want(t, append([]string{closed}, opened...)...)
		c.runFor(t, 20*time.Second) // the breaker is open for 30 s
		recorder.Want(t, "breaker of crm: half_open", failed, "breaker of crm: open")
		up = true
		c.runFor(t, time.Hour)
		const succeeded = "call crm erase: ok"
		rest := slices.Repeat([]string{succeeded}, 11)
		recorder.Want(t, append([]string{"breaker of crm: half_open", succeeded, closed}, rest...)...)
	})
}

func TestTheOutboxIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := &observed.Recorder{}
		c := newCompany(t, observing(recorder), map[string]erases{"crm": takes(0), "mail": takes(0)})
		c.enqueue(t, "crm", 2)
		c.enqueue(t, "other", 1) // belongs to another process
		must(t, c.ObserveOutbox(t.Context()))
		const closed = "breaker of crm: closed"
		recorder.Want(t, closed, "breaker of mail: closed", "outbox:"+
			" crm map[abandoned:0 failed:0 in_flight:0 pending:2 spared:0] due "+bubble.Now().UTC().Format("15:04:05")+
			" other map[abandoned:0 failed:0 in_flight:0 pending:1 spared:0] due "+bubble.Now().UTC().Format("15:04:05")+
			" mail map[abandoned:0 failed:0 in_flight:0 pending:0 spared:0]")
		c.mustSettle(t, 2)
		recorder.Want(t, "call crm erase: ok", "call crm erase: ok")
		must(t, c.ObserveOutbox(t.Context()))
		recorder.Want(t, "outbox:"+
			" other map[abandoned:0 failed:0 in_flight:0 pending:1 spared:0] due "+bubble.Now().UTC().Format("15:04:05")+
			" crm map[abandoned:0 failed:0 in_flight:0 pending:0 spared:0]"+
			" mail map[abandoned:0 failed:0 in_flight:0 pending:0 spared:0]")
	})
}

func TestTheOutboxIsNotReadWithoutAnObserver(t *testing.T) {
	must(t, newWorld(t, nil, uncalled(t)).ObserveOutbox(t.Context()))
}

func TestAFailureToReadTheOutboxIsReturned(t *testing.T) {
	recorder := &observed.Recorder{}
	w := newWorld(t, observing(recorder))
	w.sessions.EXPECT().Do(anything, anything).Return(domain.ErrUnavailable)
	if err := w.ObserveOutbox(t.Context()); err == nil {
		t.Error("it succeeded")
	}
	recorder.Want(t)
}

func TestProgressIsReportedAfterEachClaimAndSettlement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCompany(t, func(c *saga.Config) { c.Lease, c.CallTimeout = time.Hour, time.Minute },
			map[string]erases{"crm": takes(10 * time.Second)})
		var at []time.Duration
		c.enqueue(t, "crm", 1)
		_, err := c.RunWith(t.Context(), saga.Events{Progress: func() { at = append(at, since(c.began)) }})
		must(t, err)
		if len(at) != 2 || at[0] != 0 || at[1] < 10*time.Second {
			t.Errorf("progress was reported at %v", at)
		}
		if pause := c.LongestPause(); pause != time.Hour+time.Minute {
			t.Errorf("the longest pause is %v", pause)
		}
	})
}
