package saga_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

// refusing returns a runner with one external system that has refused each call, so that all entries are abandoned.
func refusing(t *testing.T, entries int, change func(*saga.Config)) *company {
	t.Helper()
	c := newCompany(t, change, map[string]erases{"crm": responds(false, refused)})
	for range entries {
		must(t, c.enqueueAt(t, bubble.Now()))
	}
	c.mustSettle(t, entries)
	return c
}

func (c *company) ids() (ids []string) {
	for _, entry := range c.store.Entries() {
		ids = append(ids, entry.EntryID)
	}
	return ids
}

// events returns the types of the events of all entries. If the payload of an event has a value under the given key,
// this value follows the type.
func (c *company) events(t *testing.T, payload string) (events []string) {
	t.Helper()
	must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		for _, entry := range c.store.Entries() {
			trail, err := s.Audit().Trail(ctx, entry.SubjectID)
			must(t, err)
			for _, event := range trail {
				text := string(event.EventType)
				if value, ok := event.Payload[payload].(string); ok {
					text += " " + value
				}
				events = append(events, text)
			}
		}
		return nil
	}))
	return events
}

func TestADiscardRecordsItsReasonAndCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := refusing(t, 1, nil)
		must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			discarded, err := c.Discard(ctx, s, "done by hand", append(c.ids(), "unknown")...)
			if len(discarded) != 1 || discarded[0].Status != domain.OutboxSucceeded {
				t.Errorf("discarded %v", discarded)
			}
			return err
		}))
		want := []string{"erasure_step_failed", "erasure_discarded done by hand", "erasure_completed"}
		if got := c.events(t, "reason"); !slices.Equal(got, want) {
			t.Errorf("events are %q, want %q", got, want)
		}
	})
}

// completions records the calls of Config.Completed, which fail with err.
type completions struct {
	err   error
	calls []domain.SubjectID
}

func (c *completions) config(config *saga.Config) {
	config.Completed = func(ctx context.Context, s ports.Session, id domain.SubjectID, operationID string) error {
		c.calls = append(c.calls, id)
		written := domain.AuditEvent{EventID: "of the hook", EventType: "written", SubjectRef: id, OccurredAt: bubble.Now()}
		return errors.Join(s.Audit().Append(ctx, written), c.err)
	}
}

func TestAnErrorOfCompletedUndoesTheSettlement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := completions{err: errBoom}
		c := newCompany(t, hook.config, map[string]erases{"crm": responds(false, nil)})
		must(t, c.enqueueAt(t, bubble.Now()))
		if _, err := c.RunOnce(t.Context()); !errors.Is(err, errBoom) {
			t.Errorf("got %v", err)
		}
		if events := c.events(t, ""); len(events) > 0 || c.open() != 1 {
			t.Errorf("%d entries are open, and the events are %q", c.open(), events)
		}
		hook.err = nil
		time.Sleep(saga.DefaultLease)
		c.mustSettle(t, 1)
		want := []string{"erasure_step_succeeded", "erasure_completed", "written"}
		if got := c.events(t, ""); !slices.Equal(got, want) || len(hook.calls) != 2 {
			t.Errorf("after %d calls, the events are %q", len(hook.calls), got)
		}
	})
}

func TestADiscardCallsCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := completions{err: errBoom}
		c := refusing(t, 2, hook.config)
		discard := func() error {
			return c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				_, err := c.Discard(ctx, s, "done by hand", c.ids()[0])
				return err
			})
		}
		if err := discard(); !errors.Is(err, errBoom) || c.open() != 2 {
			t.Errorf("got %v, and %d entries are open", err, c.open())
		}
		hook.err = nil
		if must(t, discard()); c.open() != 1 || len(hook.calls) != 2 || hook.calls[0] != c.store.Entries()[0].SubjectID {
			t.Errorf("%d entries are open, and Completed was called for %v", c.open(), hook.calls)
		}
	})
}

func TestAReasonHoldsNoPersonalData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := refusing(t, 1, nil)
		for _, reason := range []string{"", "  ", "zoe@example.org", "Zoe", "done.", "done\n", string(make([]byte, 3))} {
			err := c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				_, err := c.Discard(ctx, s, reason, c.ids()...)
				return err
			})
			if !errors.Is(err, domain.ErrInvalid) {
				t.Errorf("%q: %v", reason, err)
			}
		}
		if c.open() != 1 {
			t.Error("an entry was discarded without a reason")
		}
	})
}

func TestARequeueByFilterRecordsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := refusing(t, 5, nil)
		for _, want := range []int{3, 2, 0} {
			must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				requeued, err := c.RequeueMatching(ctx, s, domain.OutboxFilter{Resolver: "crm"}, 3)
				if len(requeued) != want {
					t.Errorf("%d were requeued, want %d", len(requeued), want)
				}
				return err
			}))
		}
		events := slices.DeleteFunc(c.events(t, "target"), func(e string) bool { return e != "erasure_requeued crm" })
		if len(events) != 5 {
			t.Errorf("%d events, want 5", len(events))
		}
	})
}

// The age of a requeued entry counts from its next claim, so the entry is retried for GiveUpAfter again.
func TestARequeuedEntryIsTriedForAFullPeriodAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCompany(t, nil, map[string]erases{"crm": fails})
		must(t, c.enqueueAt(t, bubble.Now()))
		week := 7 * 24 * time.Hour
		status := func() domain.OutboxStatus { return c.store.Entries()[0].Status }
		until := func(d time.Duration) {
			for start := bubble.Now(); since(start) < d; time.Sleep(10 * time.Minute) {
				_, err := c.RunOnce(t.Context())
				must(t, err)
			}
		}
		until(week - time.Hour)
		if status() != domain.OutboxFailed {
			t.Fatalf("before a week it is %s", status())
		}
		until(3 * time.Hour)
		if status() != domain.OutboxAbandoned {
			t.Fatalf("after a week it is %s", status())
		}
		time.Sleep(week)
		must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := c.Requeue(ctx, s, c.ids()...)
			return err
		}))
		until(week - time.Hour)
		if status() != domain.OutboxFailed {
			t.Fatalf("before another week it is %s", status())
		}
		until(3 * time.Hour)
		if status() != domain.OutboxAbandoned {
			t.Fatalf("after another week it is %s", status())
		}
	})
}

// While no worker runs, an entry is not tried. The age of an entry therefore counts from its first attempt.
func TestAWorkerThatWasOffGivesNothingUp(t *testing.T) {
	week := 7 * 24 * time.Hour
	for name, c := range map[string]struct{ before, requeue bool }{
		"before the first attempt":                   {},
		"after a claim that was released":            {before: true},
		"before the first attempt after the requeue": {requeue: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				work := newCompany(t, nil, map[string]erases{"crm": fails})
				must(t, work.enqueueAt(t, bubble.Now()))
				status := func() domain.OutboxStatus { return work.store.Entries()[0].Status }
				until := func(d time.Duration) {
					for start := bubble.Now(); since(start) < d; time.Sleep(10 * time.Minute) {
						_, err := work.RunOnce(t.Context())
						must(t, err)
					}
				}
				if c.before {
					work.release(t)
				}
				if c.requeue {
					until(week + time.Hour)
					must(t, work.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
						_, err := work.Requeue(ctx, s, work.ids()...)
						return err
					}))
				}
				time.Sleep(week + 24*time.Hour) // the worker is off
				until(week - time.Hour)
				if status() != domain.OutboxFailed {
					t.Fatalf("tried for less than a week, it is %s", status())
				}
				until(3 * time.Hour)
				if status() != domain.OutboxAbandoned {
					t.Fatalf("tried for a week, it is %s", status())
				}
			})
		})
	}
}

// The time after the first attempt counts even if no worker runs.
func TestAnEntryThatWasTriedOnceIsGivenUpAtItsSecondFailureAfterAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := newCompany(t, nil, map[string]erases{"crm": fails})
		must(t, work.enqueueAt(t, bubble.Now()))
		for _, want := range []domain.OutboxStatus{domain.OutboxFailed, domain.OutboxAbandoned} {
			_, err := work.RunOnce(t.Context())
			must(t, err)
			if entry := work.store.Entries()[0]; entry.Status != want {
				t.Errorf("after %d attempts: %s, want %s", entry.Attempts, entry.Status, want)
			}
			time.Sleep(8 * 24 * time.Hour) // the worker is off
		}
	})
}

// Attempts without an outcome abandon an entry only if the first of them is a week ago.
func TestALostEntryIsGivenUpByItsFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := newCompany(t, nil, map[string]erases{"crm": fails})
		must(t, work.enqueueAt(t, bubble.Now()))
		time.Sleep(8 * 24 * time.Hour)
		for range 1000 { // the process dies in each call
			work.claimed(t)
			time.Sleep(5 * time.Minute)
		}
		_, err := work.RunOnce(t.Context())
		must(t, err)
		if entry := work.store.Entries()[0]; entry.Status != domain.OutboxFailed || *entry.LastError != "internal" {
			t.Fatalf("after three days of attempts: %s, %s", entry.Status, *entry.LastError)
		}
		time.Sleep(5 * 24 * time.Hour)
		_, err = work.RunOnce(t.Context())
		must(t, err)
		if entry := work.store.Entries()[0]; entry.Status != domain.OutboxAbandoned || *entry.LastError != "lost" {
			t.Fatalf("after a week: %s, %s", entry.Status, *entry.LastError)
		}
	})
}

// claimed claims the entries in a process that then dies.
func (c *company) claimed(t *testing.T) (entries []domain.OutboxEntry) {
	t.Helper()
	must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		now := bubble.Now()
		entries, err = s.Outbox().Claim(ctx, domain.ClaimQuery{
			Now: now, LeaseUntil: now.Add(time.Minute), LeaseToken: "lease",
			Takes: []domain.Take{{Resolver: "crm", Operation: domain.OperationErase, Fresh: 10, Retries: 10}},
		})
		return err
	}))
	return entries
}

// release claims the entries and returns them to the outbox without a call, as a worker does that stops.
func (c *company) release(t *testing.T) {
	t.Helper()
	var all []domain.Settlement
	for _, entry := range c.claimed(t) {
		all = append(all, domain.Settlement{Entry: entry, Status: domain.OutboxPending})
	}
	must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Outbox().Settle(ctx, all)
		return err
	}))
}

func TestAPurgeRemovesOldSucceededEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCompany(t, nil, map[string]erases{"crm": takes(0)})
		c.enqueue(t, "crm", 1500)
		c.runFor(t, time.Second)
		time.Sleep(10 * 24 * time.Hour)
		must(t, c.enqueueAt(t, bubble.Now()))
		c.runFor(t, time.Second)
		for _, step := range []struct {
			after time.Duration
			want  int64
		}{{19 * 24 * time.Hour, 0}, {2 * 24 * time.Hour, 1500}, {10 * 24 * time.Hour, 1}, {time.Hour, 0}} {
			time.Sleep(step.after)
			if removed, err := c.Purge(t.Context()); removed != step.want || err != nil {
				t.Errorf("removed %d, %v, want %d", removed, err, step.want)
			}
		}
	})
}
