package saga_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang/mock/gomock"

	stores "github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// company is a runner on a store in memory, with external systems that record their calls. It runs in a synctest
// bubble.
type company struct {
	*saga.Runner
	store *stores.Store
	began time.Time

	enqueued int

	mu    sync.Mutex
	calls map[string][]time.Duration // time of each call, since the beginning
	now   map[string]int
	most  map[string]int // maximum of concurrent calls
}

func newCompany(t *testing.T, change func(*saga.Config), systems map[string]erases) *company {
	t.Helper()
	dataMap := fixture.MustMap(t, datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeText}},
	})
	c := &company{began: bubble.Now(), calls: map[string][]time.Duration{}, now: map[string]int{}, most: map[string]int{}}
	var err error
	c.store, err = stores.New(dataMap, stores.Options{})
	must(t, err)
	var registered []ports.Resolver
	for name, erase := range systems {
		made := mocks.NewMockResolver(gomock.NewController(t))
		made.EXPECT().Name().Return(name).AnyTimes()
		made.EXPECT().EraseSubject(anything, anything, anything).DoAndReturn(
			func(ctx context.Context, ref domain.SubjectRef, call domain.ErasureCall) (bool, error) {
				defer c.note(name)()
				return erase(ctx, ref, call.EntryID)
			}).AnyTimes()
		registered = append(registered, made)
	}
	slices.SortFunc(registered, func(a, b ports.Resolver) int { return len(a.Name()) - len(b.Name()) })
	config := saga.Config{Sessions: c.store, Clock: bubble, IDs: &system.IDs{}, Resolvers: registered}
	if change != nil {
		change(&config)
	}
	c.Runner, err = saga.NewRunner(config)
	must(t, err)
	c.PostponeSearch()
	return c
}

func (c *company) note(name string) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[name] = append(c.calls[name], since(c.began))
	c.now[name]++
	c.most[name] = max(c.most[name], c.now[name])
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.now[name]--
	}
}

func (c *company) enqueue(t *testing.T, name string, n int) {
	t.Helper()
	must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		for i := range n {
			subject := fixture.MustID(t, fmt.Sprint(name, i))
			must(t, s.Outbox().Enqueue(ctx, domain.OutboxEntry{
				EntryID: fmt.Sprint(name, i), SubjectID: subject, Resolver: name, Ref: domain.SubjectRef{Kind: name, Value: "x"},
				Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: bubble.Now(),
			}))
		}
		return nil
	}))
}

// runFor runs batches for the duration d, like a worker that polls every second.
func (c *company) runFor(t *testing.T, d time.Duration) {
	t.Helper()
	for start := bubble.Now(); since(start) < d; {
		settled, err := c.RunOnce(t.Context())
		must(t, err)
		if settled == 0 {
			time.Sleep(time.Second)
		}
	}
}

// callsWithin returns the number of calls to a system in the first part of the test, which lasts for d.
func (c *company) callsWithin(name string, d time.Duration) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.calls[name] {
		if at <= d {
			n++
		}
	}
	return n
}

func (c *company) attempts(name string) (attempts int) {
	for _, entry := range c.store.Entries() {
		if entry.Resolver == name {
			attempts += entry.Attempts
		}
	}
	return attempts
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
	subject := fixture.MustID(t, id)
	return c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return s.Outbox().Enqueue(ctx, domain.OutboxEntry{
			EntryID: id, SubjectID: subject, Resolver: "crm", Ref: domain.SubjectRef{Kind: "crm", Value: "x"},
			Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: at,
		})
	})
}

// hangs is an erasure that ends only when its context ends.
func hangs(ctx context.Context, _ domain.SubjectRef, _ string) (bool, error) {
	<-ctx.Done()
	return false, ctx.Err()
}

func fails(context.Context, domain.SubjectRef, string) (bool, error) { return false, errBoom }

func TestASystemThatHangsDelaysNoOtherSystem(t *testing.T) {
	const entries = 400
	healthy := takes(10 * time.Millisecond)
	alone := map[string]int{}
	for name, other := range map[string]erases{
		"alone": nil, "next to one that hangs": hangs, "next to one that fails": fails,
	} {
		synctest.Test(t, func(t *testing.T) {
			systems := map[string]erases{"mail": healthy}
			if other != nil {
				systems["crm"] = other
			}
			c := newCompany(t, nil, systems)
			c.enqueue(t, "mail", entries)
			if other != nil {
				c.enqueue(t, "crm", entries)
			}
			c.runFor(t, time.Minute)
			alone[name] = c.callsWithin("mail", 800*time.Millisecond)
			if n := c.callsWithin("mail", time.Hour); n != entries {
				t.Errorf("%s: %d of %d calls", name, n, entries)
			}
		})
	}
	for _, name := range []string{"next to one that hangs", "next to one that fails"} {
		if alone[name] < alone["alone"]*9/10 {
			t.Errorf("%s, a healthy system has %d calls in 0.8 s, and %d alone", name, alone[name], alone["alone"])
		}
	}
}

func TestAWakeIsServedWhileASystemHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCompany(t, nil, map[string]erases{"crm": hangs, "mail": takes(0)})
		c.enqueue(t, "crm", 1)
		var run sync.WaitGroup
		run.Go(func() { _, _ = c.RunOnce(t.Context()) })
		time.Sleep(5*time.Second + 10*time.Millisecond)
		c.enqueue(t, "mail", 1)
		c.Wake()
		synctest.Wait()
		if c.callsWithin("mail", time.Hour) != 1 {
			t.Error("a wake was not served")
		}
		run.Wait()
		if took := since(c.began); took > 31*time.Second {
			t.Errorf("the run took %v", took)
		}
	})
}

func TestASystemThatFailsIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := false
		c := newCompany(t, nil, map[string]erases{"crm": func(context.Context, domain.SubjectRef, string) (bool, error) {
			if up {
				return false, nil
			}
			return false, errBoom
		}})
		c.enqueue(t, "crm", 200)
		c.runFor(t, time.Hour)
		// Expected calls: ten consecutive failures and the calls in flight, then one call after 30 s, 1, 2 and 4 minutes, and
		// then one every 5 minutes.
		if n := c.callsWithin("crm", 24*time.Hour); n < 20 || n > 36 || c.attempts("crm") != n {
			t.Errorf("%d calls and %d attempts in an hour", n, c.attempts("crm"))
		}
		up = true
		c.runFor(t, 10*time.Minute)
		if open := c.open(); open > 20 {
			t.Errorf("%d entries are left once the system is up", open)
		}
	})
}

func (c *company) open() (n int) {
	for _, entry := range c.store.Entries() {
		if entry.Status != domain.OutboxSucceeded {
			n++
		}
	}
	return n
}

func TestAResponseEvenARefusalClosesTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := newCompany(t, func(c *saga.Config) { c.Concurrency = 1 }, map[string]erases{
			"crm": func(context.Context, domain.SubjectRef, string) (bool, error) {
				n++
				if n%10 == 0 {
					return false, refused
				}
				return false, errBoom
			},
		})
		c.enqueue(t, "crm", 90)
		c.runFor(t, time.Second)
		if c.callsWithin("crm", time.Second) != 90 {
			t.Errorf("%d calls: nine failures in a row are not ten", n)
		}
	})
}

func TestTheWaitThatASystemRequestsDelaysItsOtherEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		c := newCompany(t, func(c *saga.Config) { c.Concurrency = 1 }, map[string]erases{
			"crm": func(context.Context, domain.SubjectRef, string) (bool, error) {
				if first {
					first = false
					time.Sleep(time.Millisecond)
					return false, &domain.RetryLaterError{After: 20 * time.Second}
				}
				return false, nil
			}, "mail": takes(time.Millisecond),
		})
		c.enqueue(t, "crm", 30)
		c.enqueue(t, "mail", 30)
		c.runFor(t, 40*time.Second)
		if n := c.callsWithin("crm", 20*time.Second); n != 1 {
			t.Errorf("%d calls before the end of the requested wait", n)
		}
		if n := c.callsWithin("crm", 40*time.Second); n != 31 {
			t.Errorf("%d calls, want 31", n)
		}
		if n := c.callsWithin("mail", time.Second); n != 30 {
			t.Errorf("%d calls of another system, want 30", n)
		}
	})
}

// A call that waits for the rate limit must also respect a wait that the system requests in the meantime.
func TestTheWaitThatASystemRequestsDelaysCallsThatWaitForTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		c := newCompany(t, func(c *saga.Config) {
			c.Systems = map[string]saga.SystemLimits{"crm": {Rate: 10}}
		}, map[string]erases{"crm": func(context.Context, domain.SubjectRef, string) (bool, error) {
			if first {
				first = false
				time.Sleep(50 * time.Millisecond) // meanwhile, the other calls begin to wait
				return false, &domain.RetryLaterError{After: 20 * time.Second}
			}
			return false, nil
		}})
		c.enqueue(t, "crm", 8)
		c.runFor(t, time.Minute)
		if n := c.callsWithin("crm", 19*time.Second); n != 1 {
			t.Errorf("%d calls before the end of the requested wait", n)
		}
		if n := c.callsWithin("crm", time.Minute); n != 9 {
			t.Errorf("%d calls, want 9", n)
		}
	})
}

func TestASystemIsCalledNoFasterThanItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCompany(t, func(c *saga.Config) {
			c.Systems = map[string]saga.SystemLimits{"crm": {Rate: 5, Burst: 3}}
		}, map[string]erases{"crm": takes(0), "mail": takes(0)})
		c.enqueue(t, "crm", 43)
		c.enqueue(t, "mail", 100)
		c.runFor(t, 20*time.Second)
		for _, seconds := range []int{1, 3, 5} {
			within := time.Duration(seconds) * time.Second
			if n := c.callsWithin("crm", within); n > 3+5*seconds || n < 5*seconds {
				t.Errorf("%d calls within %v", n, within)
			}
		}
		if c.callsWithin("crm", 20*time.Second) != 43 || c.callsWithin("mail", time.Second) != 100 {
			t.Errorf("%d calls, and %d of another system",
				c.callsWithin("crm", 20*time.Second), c.callsWithin("mail", time.Second))
		}
	})
}

func TestASystemHasNoMoreConcurrentCallsThanItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCompany(t, func(c *saga.Config) {
			c.Systems = map[string]saga.SystemLimits{"crm": {Concurrency: 3}, "shop": {Concurrency: 12}}
		}, map[string]erases{"crm": takes(time.Second), "mail": takes(time.Second), "shop": takes(time.Second)})
		c.enqueue(t, "crm", 30)
		c.enqueue(t, "mail", 50)
		c.enqueue(t, "shop", 60)
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() { c.runFor(t, 15*time.Second) })
		}
		workers.Wait()
		if c.most["crm"] != 3 || c.most["mail"] != 10 || c.most["shop"] != 12 || c.open() > 0 {
			t.Errorf("the maximum was %v concurrent calls; %d entries are left", c.most, c.open())
		}
	})
}

func TestJitterShortensAWaitByUpToAHalf(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{
		0: time.Minute, 0.5: 45 * time.Second, 1: 30 * time.Second, 7: 30 * time.Second,
	} {
		w := newWorld(t, func(c *saga.Config) { c.Jitter = func() float64 { return jitter } },
			desk(t, responds(false, errBoom)))
		w.wantOutcome(t, claimed(t, domain.OperationErase, 2, 1)[0], failed(notErased, 2, "internal", want), "")
	}
	w := newWorld(t, func(c *saga.Config) { c.Jitter = func() float64 { return 1 } },
		desk(t, responds(false, &domain.RetryLaterError{After: time.Hour})))
	w.wantOutcome(t, claimed(t, domain.OperationErase, 1, 1)[0], failed(notErased, 1, "retry_later", time.Hour), "")
}
