package saga_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

// slowStore is a store in which a claim is slow if it reads from the beginning of the index. Every other claim is fast.
type slowStore struct {
	ports.SessionFactory
	takes time.Duration

	mu   sync.Mutex
	from []time.Time // DueFrom of each claim
}

type slowSession struct {
	ports.Session
	*slowStore
}

type slowOutbox struct {
	ports.Outbox
	*slowStore
}

func (s *slowStore) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return s.SessionFactory.Do(ctx, func(ctx context.Context, session ports.Session) error {
		return fn(ctx, slowSession{session, s})
	})
}

func (s slowSession) Outbox() ports.Outbox { return slowOutbox{s.Session.Outbox(), s.slowStore} }

func (o slowOutbox) Claim(
	ctx context.Context, limit int, at, until time.Time, token string, known ...domain.OutboxTarget,
) ([]domain.OutboxEntry, error) {
	o.mu.Lock()
	o.from = append(o.from, known[0].DueFrom)
	o.mu.Unlock()
	if known[0].DueFrom.IsZero() {
		time.Sleep(o.takes)
	}
	return o.Outbox.Claim(ctx, limit, at, until, token, known...)
}

// fromStart counts the scans from the start of the index in the latest n claims. These are full scans and scans of the
// first window (the oldest interval of due times).
func (s *slowStore) fromStart(n int) (count int) {
	for _, from := range s.from[len(s.from)-n:] {
		if from.IsZero() {
			count++
		}
	}
	return count
}

func newSlow(t *testing.T, takes time.Duration, system erases) (*company, *slowStore) {
	t.Helper()
	slow := &slowStore{takes: takes}
	c := newCompany(t, func(config *saga.Config) {
		slow.SessionFactory = config.Sessions
		config.Sessions = slow
	}, map[string]erases{"crm": system})
	return c, slow
}

func TestClaimsScanRecentEntriesWhileFullScansAreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, slow := newSlow(t, 20*time.Millisecond, takes(0))
		const erasures = 400
		for range erasures {
			must(t, c.enqueueAt(t, bubble.Now()))
			c.mustSettle(t, 1)
			time.Sleep(10 * time.Millisecond)
		}
		// The first ten claims are slow full scans. Afterwards, the claims read only recent entries. About
		// every 2 s, one claim also reads from the beginning. The remaining claims take about 4 s, so one to three such
		// claims follow.
		if n := slow.fromStart(len(slow.from)); n > 10+3 || n < 10+1 {
			t.Errorf("%d of %d claims read from the beginning", n, len(slow.from))
		}
		// Claims of recent entries do not find an entry that appears with a due time of a minute ago. The next scan of older
		// due times finds it.
		must(t, c.enqueueAt(t, bubble.Now().Add(-time.Minute)))
		began := bubble.Now()
		for c.open() > 0 {
			_, err := c.RunOnce(t.Context())
			must(t, err)
			time.Sleep(50 * time.Millisecond)
		}
		if took := since(began); took > 5*time.Second {
			t.Errorf("an entry that was committed late was found after %v", took)
		}
		slow.takes = 0
		for range 300 {
			c.mustSettle(t, 0)
			time.Sleep(10 * time.Millisecond)
		}
		if n := slow.fromStart(20); n != 20 {
			t.Errorf("%d of 20 claims make a full scan after full scans became fast", n)
		}
	})
}

func TestABacklogIsNotSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := false
		c, slow := newSlow(t, 40*time.Millisecond, func(context.Context, domain.SubjectRef, string) (bool, error) {
			if !up {
				return false, errBoom
			}
			return false, nil
		})
		c.enqueue(t, "crm", 300)
		for range 1000 { // includes retries
			up = !up
			_, err := c.RunOnce(t.Context())
			must(t, err)
			time.Sleep(10 * time.Millisecond)
			if c.open() == 0 {
				break
			}
		}
		up = true
		c.runFor(t, 10*time.Minute)
		if n := c.open(); n != 0 {
			t.Errorf("%d entries are left after %d claims, %d of them from the beginning", n, len(slow.from),
				slow.fromStart(len(slow.from)))
		}
	})
}

func TestARequeuedEntryIsFoundImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := true
		c, _ := newSlow(t, 100*time.Millisecond, func(context.Context, domain.SubjectRef, string) (bool, error) {
			if !up {
				return false, refused
			}
			return false, nil
		})
		up = false
		must(t, c.enqueueAt(t, bubble.Now()))
		c.mustSettle(t, 1)
		up = true
		for range 100 {
			c.mustSettle(t, 0)
			time.Sleep(100 * time.Millisecond)
		}
		must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			requeued, err := c.RequeueMatching(ctx, s, domain.OutboxFilter{Resolver: "crm"}, 10)
			if len(requeued) != 1 {
				t.Errorf("%d were requeued", len(requeued))
			}
			return err
		}))
		c.mustSettle(t, 1)
	})
}

func (c *company) mustSettle(t *testing.T, want int) {
	t.Helper()
	if got, err := c.RunOnce(t.Context()); err != nil || got != want {
		t.Fatalf("settled %d, %v, want %d", got, err, want)
	}
}

// enqueueAt adds an entry that was enqueued at the given time.
func (c *company) enqueueAt(t *testing.T, at time.Time) error {
	t.Helper()
	c.mu.Lock()
	c.enqueued++
	id := "e" + time.Duration(c.enqueued).String()
	c.mu.Unlock()
	subject, err := domain.NewSubjectID(id)
	must(t, err)
	return c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return s.Outbox().Enqueue(ctx, domain.OutboxEntry{
			EntryID: id, SubjectID: subject, Resolver: "crm", Ref: domain.SubjectRef{Kind: "crm", Value: "x"},
			Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: at,
		})
	})
}
