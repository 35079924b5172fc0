package saga_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

// crowded is a store in which settled entries slow down each claim that scans their due times. A database behaves like
// this while an old snapshot prevents the removal of dead rows.
type crowded struct {
	ports.SessionFactory
	settled []time.Time // due times, in order
	each    time.Duration
	most    time.Duration // duration of the longest claim
	claims  int
}

type crowdedSession struct {
	ports.Session
	*crowded
}

type crowdedOutbox struct {
	ports.Outbox
	*crowded
}

func (s *crowded) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return s.SessionFactory.Do(ctx, func(ctx context.Context, session ports.Session) error {
		return fn(ctx, crowdedSession{session, s})
	})
}

func (s crowdedSession) Outbox() ports.Outbox { return crowdedOutbox{s.Session.Outbox(), s.crowded} }

func (o crowdedOutbox) Claim(
	ctx context.Context, limit int, at, until time.Time, token string, known ...domain.OutboxTarget,
) ([]domain.OutboxEntry, error) {
	first, _ := slices.BinarySearchFunc(o.settled, known[0].DueFrom, time.Time.Compare)
	last := len(o.settled)
	if end := known[0].DueUntil; !end.IsZero() {
		last, _ = slices.BinarySearchFunc(o.settled, end.Add(1), time.Time.Compare)
	}
	took := time.Duration(max(0, last-first)) * o.each
	time.Sleep(took)
	o.claims++
	o.most = max(o.most, took)
	entries, err := o.Outbox.Claim(ctx, limit, at, until, token, known...)
	for _, entry := range entries {
		i, _ := slices.BinarySearchFunc(o.settled, entry.EnqueuedAt, time.Time.Compare)
		o.settled = slices.Insert(o.settled, i, entry.EnqueuedAt)
	}
	return entries, err
}

func newCrowded(t *testing.T) (*company, *crowded) {
	t.Helper()
	store := &crowded{each: 20 * time.Microsecond}
	c := newCompany(t, func(config *saga.Config) {
		store.SessionFactory = config.Sessions
		config.Sessions = store
	}, map[string]erases{"crm": takes(0)})
	return c, store
}

// churn calls the runner for the duration d, and adds an entry before each call.
func (c *company) churn(t *testing.T, d time.Duration) {
	t.Helper()
	for began := bubble.Now(); since(began) < d; time.Sleep(20 * time.Millisecond) {
		must(t, c.enqueueAt(t, bubble.Now()))
		_, err := c.RunOnce(t.Context())
		must(t, err)
	}
}

func TestNoClaimReadsAllSettledEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, store := newCrowded(t)
		c.churn(t, 40*time.Second)
		all := time.Duration(len(store.settled)) * store.each
		if store.most > 6*time.Millisecond || all < 20*time.Millisecond {
			t.Errorf("a claim took up to %v, and a full scan would have taken %v", store.most, all)
		}
		// A runner finds an entry within 20 s if the entry appears late with an old due time. This holds for every age of the
		// due time. In every second case, the runner also has new entries to process.
		for i, age := range []time.Duration{
			time.Second, 2 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, time.Hour, 1000 * time.Hour,
		} {
			must(t, c.enqueueAt(t, bubble.Now().Add(-age)))
			began := bubble.Now()
			for c.open() > 0 {
				if i%2 == 0 {
					must(t, c.enqueueAt(t, bubble.Now()))
				}
				_, err := c.RunOnce(t.Context())
				must(t, err)
				time.Sleep(50 * time.Millisecond)
			}
			if took := since(began); took > 20*time.Second {
				t.Errorf("an entry of %v ago was found after %v", age, took)
			}
		}
		if store.most > 6*time.Millisecond {
			t.Errorf("a claim took up to %v", store.most)
		}
	})
}

// 600 entries are added late, all with the same old due time. They are claimed within 20 s.
func TestABacklogWithinAWindowIsProcessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, store := newCrowded(t)
		c.churn(t, 20*time.Second)
		old := bubble.Now().Add(-10 * time.Second)
		for range 600 {
			must(t, c.enqueueAt(t, old))
		}
		began, claims := bubble.Now(), store.claims
		for c.open() > 0 && since(began) < time.Minute {
			_, err := c.RunOnce(t.Context())
			must(t, err)
			time.Sleep(50 * time.Millisecond)
		}
		if took := since(began); c.open() > 0 || took > 20*time.Second {
			t.Errorf("%d are left after %v and %d claims", c.open(), took, store.claims-claims)
		}
	})
}

func TestClaimsMakeFullScansAgainOnceTheyAreFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, store := newCrowded(t)
		c.churn(t, 30*time.Second)
		store.each = 0
		c.churn(t, 16*time.Second)
		store.claims = 0
		const runs = 20
		for range runs {
			c.mustSettle(t, 0)
		}
		if store.claims != runs {
			t.Errorf("%d runs made %d claims", runs, store.claims)
		}
	})
}
