package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// No goroutine may be left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBoom = errors.New("boom: zoe@example.org")

// store is a session factory whose outbox returns a backlog.
type store struct {
	ports.SessionFactory
	probe   func(context.Context) error
	backlog func(context.Context) ([]domain.OutboxBacklog, error)
	probes  atomic.Int64
	reads   atomic.Int64
}

func (s *store) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return fn(ctx, session{store: s})
}

func (s *store) Probe(ctx context.Context) error {
	s.probes.Add(1)
	if s.probe == nil {
		return nil
	}
	return s.probe(ctx)
}

type session struct {
	ports.Session
	store *store
}

func (s session) OutboxAdmin() ports.OutboxAdmin { return outbox{store: s.store} }

type outbox struct {
	ports.OutboxAdmin
	store *store
}

func (o outbox) Backlog(ctx context.Context) ([]domain.OutboxBacklog, error) {
	o.store.reads.Add(1)
	if o.store.backlog == nil {
		return nil, nil
	}
	return o.store.backlog(ctx)
}

// bubble is the clock of a synctest bubble.
var bubble = system.Clock{}

func since(began time.Time) time.Duration { return bubble.Now().Sub(began) }

// worker is a heartbeat.
type worker struct {
	last    time.Time
	running bool
}

func (w *worker) Heartbeat() (time.Time, bool) { return w.last, w.running }

func newChecker(t *testing.T, c health.Config) *health.Checker {
	t.Helper()
	c.Clock = bubble
	checker, err := health.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return checker
}

// summary returns the health as one line.
func summary(h health.Health) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ready=%v degraded=%v", h.Ready, h.Degraded)
	for _, check := range h.Checks {
		fmt.Fprintf(&b, " %s", check.Status)
	}
	return b.String()
}

func want(t *testing.T, checker *health.Checker, want string) health.Health {
	t.Helper()
	got := checker.Check(t.Context())
	if summary(got) != want || !got.Live {
		t.Errorf("got %q, want %q", summary(got), want)
	}
	return got
}

const allWell = "ready=true degraded=false ok ok off ok ok"

func TestAProcessWithoutAWorkerIsReady(t *testing.T) {
	want(t, newChecker(t, health.Config{Sessions: &store{}}), allWell)
}

func TestReadinessFollowsTheStore(t *testing.T) {
	for name, c := range map[string]struct {
		probe func(context.Context) error
		want  string
	}{
		"out of reach": {
			func(context.Context) error { return &domain.Error{Code: domain.ErrUnavailable} },
			"ready=false degraded=false failed unknown off unknown unknown",
		},
		"too slow": {
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			"ready=false degraded=false failed unknown off unknown unknown",
		},
		"panics": {
			func(context.Context) error { panic(errBoom) },
			"ready=false degraded=false failed unknown off unknown unknown",
		},
		"another failure": {
			func(context.Context) error { return errBoom },
			"ready=false degraded=false failed unknown off unknown unknown",
		},
		"migrations are pending": {
			func(context.Context) error { return domain.Misconfigured("store", "pending") },
			"ready=false degraded=false ok failed off ok ok",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := want(t, newChecker(t, health.Config{Sessions: &store{probe: c.probe}}), c.want)
				if got.Checks[0].Err == nil && got.Checks[1].Err == nil {
					t.Error("it does not say why")
				}
			})
		})
	}
}

func TestACheckThatHangsEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := &store{probe: func(context.Context) error { <-release; return nil }} // ignores its context
		checker := newChecker(t, health.Config{Sessions: s, Options: health.Options{Timeout: 2 * time.Second}})
		began := bubble.Now()
		for range 3 {
			want(t, checker, "ready=false degraded=false failed unknown off unknown unknown")
		}
		if took := since(began); took != 6*time.Second || s.probes.Load() != 1 {
			t.Errorf("three checks took %v and %d probes, want 6 s and the same probe", took, s.probes.Load())
		}
		close(release)
		synctest.Wait()
		want(t, checker, allWell)
	})
}

func TestACheckEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{probe: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := bubble.Now()
		if got := newChecker(t, health.Config{Sessions: s}).Check(ctx); got.Ready || since(began) > 0 {
			t.Errorf("after %v: %s", since(began), summary(got))
		}
		time.Sleep(time.Minute) // until the probe ends
	})
}

func TestConcurrentChecksShareAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{probe: func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil }}
		checker := newChecker(t, health.Config{Sessions: s})
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() { want(t, checker, allWell) })
		}
		callers.Wait()
		if n := s.probes.Load(); n != 1 {
			t.Errorf("%d probes", n)
		}
	})
}

func TestAWorkerThatIsSilentIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{last: bubble.Now(), running: true}
		checker := newChecker(t, health.Config{Sessions: &store{}, Worker: w, PollInterval: 10 * time.Second})
		time.Sleep(30 * time.Second)
		want(t, checker, "ready=true degraded=false ok ok ok ok ok")
		time.Sleep(time.Millisecond)
		want(t, checker, "ready=false degraded=false ok ok failed ok ok")
		w.running = false // it runs in another process
		want(t, checker, allWell)
		w.running, w.last = true, bubble.Now()
		want(t, checker, "ready=true degraded=false ok ok ok ok ok")
	})
}

func TestAbandonedAndLateEntriesDegradeButStayReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enqueued := bubble.Now()
		for _, c := range []struct {
			backlog domain.OutboxBacklog
			want    string
		}{
			{domain.OutboxBacklog{}, allWell},
			{backlog(domain.OutboxAbandoned, nil), "ready=true degraded=true ok ok off failed ok"},
			{backlog(domain.OutboxFailed, &enqueued), allWell},
		} {
			s := &store{backlog: func(context.Context) ([]domain.OutboxBacklog, error) {
				return []domain.OutboxBacklog{{}, c.backlog}, nil
			}}
			want(t, newChecker(t, health.Config{Sessions: s}), c.want)
		}
		late := &store{backlog: func(context.Context) ([]domain.OutboxBacklog, error) {
			return []domain.OutboxBacklog{backlog(domain.OutboxPending, &enqueued)}, nil
		}}
		checker := newChecker(t, health.Config{Sessions: late, Options: health.Options{LateAfter: time.Hour}})
		time.Sleep(59 * time.Minute)
		want(t, checker, allWell)
		time.Sleep(time.Minute)
		want(t, checker, "ready=true degraded=true ok ok off ok failed")
	})
}

func backlog(status domain.OutboxStatus, oldest *time.Time) domain.OutboxBacklog {
	return domain.OutboxBacklog{
		Resolver: "desk", Counts: map[domain.OutboxStatus]int64{status: 1}, Oldest: oldest, OldestDue: oldest,
	}
}

func TestTheOutboxIsReadEvery30Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		checker := newChecker(t, health.Config{Sessions: s})
		for range 61 { // every second
			want(t, checker, allWell)
			time.Sleep(time.Second)
		}
		if n := s.reads.Load(); n != 3 {
			t.Errorf("read %d times in a minute", n)
		}
	})
}

func TestASlowOutboxDelaysNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{backlog: func(context.Context) ([]domain.OutboxBacklog, error) {
			time.Sleep(3 * time.Second)
			return []domain.OutboxBacklog{backlog(domain.OutboxAbandoned, nil)}, nil
		}}
		checker := newChecker(t, health.Config{Sessions: s})
		began := bubble.Now()
		want(t, checker, "ready=true degraded=false ok ok off unknown unknown")
		if took := since(began); took != health.DefaultTimeout/4 {
			t.Errorf("it took %v", took)
		}
		time.Sleep(3 * time.Second)
		want(t, checker, "ready=true degraded=true ok ok off failed ok")
		if n := s.reads.Load(); n != 1 {
			t.Errorf("read %d times", n)
		}
	})
}

func TestAnOutboxThatCannotBeReadIsUnknown(t *testing.T) {
	for name, read := range map[string]func(context.Context) ([]domain.OutboxBacklog, error){
		"an error": func(context.Context) ([]domain.OutboxBacklog, error) { return nil, errBoom },
		"a panic":  func(context.Context) ([]domain.OutboxBacklog, error) { panic(errBoom) },
	} {
		t.Run(name, func(t *testing.T) {
			want(t, newChecker(t, health.Config{Sessions: &store{backlog: read}}),
				"ready=true degraded=false ok ok off unknown unknown")
		})
	}
}

// plain is a session factory whose outbox cannot return a backlog.
type plain struct{ *store }

func (plain) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return fn(ctx, plainSession{})
}

type plainSession struct{ ports.Session }

func (plainSession) OutboxAdmin() ports.OutboxAdmin { return plainOutbox{} }

type plainOutbox struct{ ports.OutboxAdmin }

func (plainOutbox) Backlog(context.Context) ([]domain.OutboxBacklog, error) {
	return nil, errors.ErrUnsupported
}

func TestAnOutboxWithoutBacklogIsUnknown(t *testing.T) {
	want(t, newChecker(t, health.Config{Sessions: plain{&store{}}}), "ready=true degraded=false ok ok off unknown unknown")
}

func TestAWrongConfigurationIsRefused(t *testing.T) {
	for name, c := range map[string]health.Config{
		"no sessions":           {Clock: bubble},
		"no clock":              {Sessions: &store{}},
		"a negative timeout":    {Sessions: &store{}, Clock: bubble, Options: health.Options{Timeout: -1}},
		"negative polls":        {Sessions: &store{}, Clock: bubble, Options: health.Options{Polls: -1}},
		"a negative age":        {Sessions: &store{}, Clock: bubble, Options: health.Options{LateAfter: -1}},
		"a negative poll pause": {Sessions: &store{}, Clock: bubble, PollInterval: -1},
	} {
		if _, err := health.New(c); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheHealthNamesItsDataMap(t *testing.T) {
	for name, start := range map[string]string{"": `{"live":true`, "staff": `{"map":"staff","live":true`} {
		state := newChecker(t, health.Config{Sessions: &store{}, Name: name}).Check(t.Context())
		if text, err := json.Marshal(state); err != nil || !strings.HasPrefix(string(text), start) {
			t.Errorf("the health is %s (%v)", text, err)
		}
	}
}

// The count of unknown lives reads the marks of all erasures, so it must not run with each probe.
func TestUnknownLivesDegradeAndAreCountedOnceAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts, unknown, failure := 0, int64(0), error(nil)
		checker := newChecker(t, health.Config{Sessions: &store{}, UnknownLives: func(context.Context) (int64, error) {
			counts++
			return unknown, failure
		}})
		for i, want := range []struct {
			unknown  int64
			failure  error
			degraded bool
		}{{0, nil, false}, {2, nil, true}, {0, errBoom, false}, {0, nil, false}} {
			unknown, failure = want.unknown, want.failure
			for range 3 {
				state := checker.Check(t.Context())
				if !state.Ready || state.Degraded != want.degraded ||
					(state.Status(health.CheckLives) == health.CheckFailed) != want.degraded {
					t.Errorf("with %d unknown lives: %+v", want.unknown, state)
				}
			}
			if counts != i+1 {
				t.Errorf("%d counts, want %d", counts, i+1)
			}
			time.Sleep(time.Hour) // in the time of the bubble
		}
	})
}

func TestASlowCountOfLivesDelaysNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		checker := newChecker(t, health.Config{Sessions: &store{}, UnknownLives: func(ctx context.Context) (int64, error) {
			<-release
			return 1, nil
		}})
		began := bubble.Now()
		if state := checker.Check(t.Context()); !state.Ready || state.Degraded || since(began) > health.DefaultTimeout/4 {
			t.Errorf("after %v: %+v", since(began), state)
		}
		close(release)
		synctest.Wait()
		if state := checker.Check(t.Context()); !state.Degraded {
			t.Errorf("after the count: %+v", state)
		}
	})
}
