package app_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// fullDisk is a journal whose disk is full while full is set.
type fullDisk struct {
	full    atomic.Bool
	refused func() // called for each record that it refuses
}

func (*fullDisk) Name() string { return "disk" }

func (d *fullDisk) Append(context.Context, []byte) error {
	if d.full.Load() {
		d.refused()
		return syscall.ENOSPC
	}
	return nil
}

func (*fullDisk) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("")), nil
}

// processes is a database with the process of a worker, and with another process that has no settings of the worker.
type processes struct {
	db      *bun.DB
	clock   *fixture.Clock
	disk    *fullDisk
	signals *duties
	working *app.Integration
	other   *app.Integration
}

// duties keeps the last observation of each duty.
type duties struct {
	last chan observation.DutyObserved
}

func (d *duties) Observe(ctx context.Context, o observation.Observation) {
	if observed, ok := o.(observation.DutyObserved); ok {
		d.last <- observed
	}
}

func (d *duties) Start(ctx context.Context, _ observation.Activity) (context.Context, func(observation.ActivityEnd)) {
	return ctx, nil
}

// until waits for an observation of a duty for which holds returns true.
func (d *duties) until(t *testing.T, name domain.DutyName, holds func(observation.DutyObserved) bool) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case observed := <-d.last:
			if observed.Duty.Name == name && holds(observed) {
				return
			}
		case <-timeout:
			t.Fatal("the observation does not come")
		}
	}
}

func eachDatabase(t *testing.T, test func(t *testing.T, p *processes)) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		shop.Open(t, db, shop.Models)
		shop.AddCustomers(t, db, 1, 0)
		var err error
		p := &processes{
			db: db, clock: fixture.NewClock(paid),
			signals: &duties{last: make(chan observation.DutyObserved, 100_000)},
		}
		p.disk = &fullDisk{refused: func() { p.clock.Set(paid.Add(time.Second)) }} // later than the last success
		config := app.Config{DB: db, Models: shop.Models, Clock: p.clock}
		p.other, err = app.New(config)
		must(t, err)
		config.Journal, config.JournalInterval, config.SweepInterval = p.disk, 10*time.Millisecond, time.Hour
		config.VerifyAfter, config.Options = 10*time.Millisecond, stack.Options{Observer: p.signals}
		p.working, err = app.New(config)
		must(t, err)
		test(t, p)
	})
}

// expect checks the findings, the failed checks and the body of GET /ready in both processes. The health of the other
// process has a cache of 30 s, so expect asks a process that has just started instead. Such a process may not read the
// duties within its time limit if the machine is busy, so expect starts further ones, for at most a minute.
func (p *processes) expect(t *testing.T, when string, codes []string, checks ...string) {
	t.Helper()
	p.expectFindings(t, when+", command", p.other, codes...)
	p.expectFindings(t, when+", worker", p.working, codes...)
	failed, code, body := readiness(t, p.working)
	isExpected := func() bool {
		return slices.Equal(failed, checks) && code == http.StatusOK &&
			strings.Contains(body, `"degraded":`+strconv.FormatBool(len(checks) > 0))
	}
	if !isExpected() {
		t.Errorf("%s, worker: the failed checks are %q, want %q: %s", when, failed, checks, body)
	}
	for begin := time.Now(); ; {
		fresh, err := app.New(app.Config{DB: p.db, Models: shop.Models, Clock: p.clock})
		must(t, err)
		if failed, code, body = readiness(t, fresh); isExpected() {
			return
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("%s, web: the failed checks are %q, want %q: %s", when, failed, checks, body)
		}
	}
}

// readiness returns the failed checks, the status and the body of GET /ready.
func readiness(t *testing.T, gdpr *app.Integration) (failed []string, code int, body string) {
	t.Helper()
	response := send(t, gdpr.HealthHandler("/health"), "GET", "/health/ready")
	var state health.Health
	must(t, json.Unmarshal(response.Body.Bytes(), &state))
	for _, check := range state.Checks {
		if check.Status == health.CheckFailed {
			failed = append(failed, string(check.Name))
		}
	}
	return failed, response.Code, response.Body.String()
}

func isOK(o observation.DutyObserved) bool { return o.Outcome == domain.OutcomeOK }

func TestAFullDiskOfTheJournalShowsEverywhere(t *testing.T) {
	eachDatabase(t, func(t *testing.T, p *processes) {
		p.expectFindings(t, "before the start", p.working, "worker-late")
		p.working.Worker().Start()
		p.signals.until(t, domain.DutyJournal, isOK)
		p.disk.full.Store(true)
		eraseCustomer(t, p.working, "1")
		p.signals.until(t, domain.DutyJournal, func(o observation.DutyObserved) bool {
			return o.Outcome == domain.OutcomeInternal
		})
		p.expect(t, "with a full disk", []string{"journal-failing"}, "journal")
		p.disk.full.Store(false)
		p.signals.until(t, domain.DutyJournal, func(o observation.DutyObserved) bool {
			return isOK(o) && o.Duty.LastSuccess.After(paid)
		})
		p.expectFindings(t, "with space", p.other)
		must(t, p.working.Worker().Stop(time.Minute))
		p.clock.Set(paid.Add(time.Hour)) // the worker is dead
		p.expect(t, "without a worker", []string{"worker-late", "journal-late", "verification-late"},
			"workers", "journal", "verification")
	})
}

// expectFindings checks the codes of the findings in a process.
func (p *processes) expectFindings(t *testing.T, when string, gdpr *app.Integration, codes ...string) {
	t.Helper()
	status, err := gdpr.Operator().Status(t.Context())
	must(t, err)
	var got []string
	for _, finding := range status.Findings {
		got = append(got, finding.Code)
	}
	if !slices.Equal(got, codes) {
		t.Errorf("%s: the findings are %q, want %q", when, got, codes)
	}
}

func TestALeftoverShowsUntilAVerificationFindsNothing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, p *processes) {
		eraseCustomer(t, p.working, "1")
		shop.AddParcels(t, p.db, 1, 1)
		p.clock.Set(paid.Add(time.Minute))
		p.working.Worker().Start()
		p.signals.until(t, domain.DutyVerification, func(o observation.DutyObserved) bool { return o.Duty.LeftOver == 1 })
		must(t, p.working.Worker().Stop(time.Minute))
		p.expect(t, "with a leftover", []string{"verification-left-over"}, "verification")
		id := fixture.MustID(t, "1")
		for range 2 { // the same leftover counts once
			found, err := p.other.Operator().Verify(t.Context(), id)
			must(t, err)
			if len(found.LeftOver) != 1 {
				t.Errorf("found %+v", found)
			}
		}
		status, err := p.other.Operator().Status(t.Context())
		must(t, err)
		for _, duty := range status.Duties {
			if want := map[bool]int64{true: 1}[duty.Name == domain.DutyVerification]; duty.LeftOver != want {
				t.Errorf("%s has %d leftovers", duty.Name, duty.LeftOver)
			}
		}
		databases.Execute(t, p.db, "DELETE FROM parcels")
		for range 2 {
			_, err = p.other.Operator().Verify(t.Context(), id)
			must(t, err)
			p.expectFindings(t, "after the removal", p.other)
		}
		shop.AddParcels(t, p.db, 1, 1)
		_, err = p.other.Operator().Verify(t.Context(), id)
		must(t, err)
		databases.Execute(t, p.db, "UPDATE customers SET email = 'new@example.org' WHERE id = 1") // somebody registers
		before, err := p.other.Operator().Verify(t.Context(), id)
		if err != nil || before.Life != domain.LifeUnknown || len(before.LeftOver) != 1 {
			t.Errorf("with another life: %+v, %v", before, err)
		}
		p.expectFindings(t, "with another life", p.other, "verification-left-over", "lives-unknown")
		ctx, err := domain.WithOperator(t.Context(), "dpo")
		must(t, err)
		for i := range 2 {
			cleared, err := p.other.Operator().ClearLeftOver(ctx, id)
			if err != nil || cleared.Cleared != (i == 0) || len(cleared.LeftOver) != 1-i {
				t.Errorf("cleared %d times: %+v, %v", i+1, cleared, err)
			}
			p.expectFindings(t, "after it was cleared", p.other, "lives-unknown")
		}
		trail := fixture.Trail(t, p.other.Sessions(), id)
		last := trail[len(trail)-1]
		if last.EventType != domain.EventErasureLeftOver || last.Payload["cleared"] != true ||
			last.Payload["target"] != "parcels" || last.Payload[domain.PayloadOperator] != "dpo" {
			t.Errorf("the trail ends with %+v", last)
		}
	})
}

// closed is a session factory that refuses all sessions while it is set.
type closed struct {
	ports.SessionFactory
	refuses atomic.Bool
}

func (c *closed) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	if c.refuses.Load() {
		return domain.ErrUnavailable
	}
	return c.SessionFactory.Do(ctx, fn)
}

// The process of the worker is alive, but its batches fail.
func TestAWorkerWhoseBatchesFailShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dataMap := fixture.MustMap(t, fixture.Users())
		store, err := memory.New(dataMap, memory.Options{})
		must(t, err)
		sessions := &closed{SessionFactory: store}
		seen := &duties{last: make(chan observation.DutyObserved, 1000)}
		wired, err := stack.New(stack.Config{
			Sessions: sessions, DataMap: dataMap, Options: stack.Options{Observer: seen},
		})
		must(t, err)
		gdpr, err := app.New(app.Config{Stack: &wired, Logger: slog.New(slog.DiscardHandler)})
		must(t, err)
		gdpr.Worker().Start()
		time.Sleep(time.Hour)
		if state := gdpr.Health(t.Context()); !state.Ready || state.Degraded {
			t.Errorf("while all is well: %+v", state)
		}
		sessions.refuses.Store(true)
		time.Sleep(time.Minute)
		if state := gdpr.Health(t.Context()); state.Status(health.CheckWorkers) != health.CheckFailed {
			t.Errorf("after a minute: %+v", state)
		}
		seen.until(t, domain.DutyWorker, func(o observation.DutyObserved) bool { return o.Outcome == "unavailable" })
		sessions.refuses.Store(false)
		time.Sleep(time.Minute)
		if state := gdpr.Health(t.Context()); !state.Ready || state.Degraded {
			t.Errorf("after the failure: %+v", state)
		}
		must(t, gdpr.Worker().Stop(time.Minute))
	})
}
