package servers

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/internal/tests/shop"
)

const (
	processes = 3
	clients   = 4 // of each process
	customers = 4000
	parcels   = 5 // of each customer
	outage    = 2 * time.Second
)

func TestAPrimaryThatIsKilledLosesNothingAndIsReplacedWithinASecond(t *testing.T) {
	failOver(t, (*pair).kill, time.Second)
}

func TestAPrimaryThatFreezesLosesNothingAndIsReplacedWithinTenSeconds(t *testing.T) {
	failOver(t, (*pair).freeze, 10*time.Second)
}

// failOver repeats a failover until each process serves requests again within the given duration after the promotion,
// up to three times. A single failover can take longer because other programs use the machine. No failover may lose an
// operation.
func failOver(t *testing.T, stopPrimary func(*pair), within time.Duration) {
	t.Helper()
	for range 3 {
		var slowest time.Duration
		t.Run("failover", func(t *testing.T) { slowest = failOverOnce(t, stopPrimary) })
		if t.Failed() || slowest <= within {
			return
		}
	}
	t.Errorf("in each of three failovers, a process came back after more than %v", within)
}

// failOverOnce tests a failover while clients send consents and erasures of many customers. It first calls stopPrimary.
// It then promotes the standby. It returns the longest time from the promotion until a process served requests again.
// From the fault on, each process has one client only. With more, the test would measure how fast the machine opens
// many connections at once.
func failOverOnce(t *testing.T, stopPrimary func(*pair)) (slowest time.Duration) {
	t.Helper()
	servers := startPair(t)
	seed(t, servers.primary.URL())
	database := servers.url(t)
	fleet := make([]*process, processes)
	for i := range fleet {
		fleet[i] = startProcess(t, database)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	var done acknowledged
	next := make(chan int64, customers)
	for id := range int64(customers) {
		next <- id + 1
	}
	var work sync.WaitGroup
	busy, stopBusy := context.WithCancel(ctx)
	defer stopBusy()
	for i := range processes * clients {
		work.Go(func() { done.erase(busy, fleet[i%processes], next) })
	}
	quiet := startProcess(t, database) // one client, which sends requests only after the failover
	quiet.fill(ctx)
	await(t, time.Minute, "customers that are erased", func() bool { return done.count() >= 200 })

	stopPrimary(servers)
	stopBusy()
	for _, p := range fleet {
		work.Go(func() { done.erase(ctx, p, next) })
	}
	before := done.count()
	time.Sleep(outage) // the time until an operator or a tool decides to promote
	for _, p := range fleet {
		p.first.Store(0)
	}
	servers.promote(t)
	promoted := time.Now()
	quiet.first.Store(0)
	work.Go(func() {
		for ctx.Err() == nil && !quiet.request(ctx, 1, "GET", "/me/consent/newsletter") {
		}
	})
	for i, p := range append(fleet, quiet) {
		await(t, time.Minute, "a process that comes back", func() bool { return p.first.Load() != 0 })
		took := time.Unix(0, p.first.Load()).Sub(promoted)
		t.Logf("process %d came back after %v", i, took)
		slowest = max(slowest, took)
	}
	await(t, time.Minute, "customers that are erased afterwards", func() bool { return done.count() >= before+200 })
	stop()
	work.Wait()
	check(t, servers.standby.URL(), &done, promoted)
	return slowest
}

// acknowledged has the ids of customers.
type acknowledged struct {
	mu        sync.Mutex
	requested []int64 // a client has sent an erasure, with or without a response
	erased    []int64 // the erasure got a successful response
	consents  []int64 // the consent got a successful response
}

func (a *acknowledged) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.erased)
}

func (a *acknowledged) note(list *[]int64, id int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	*list = append(*list, id)
}

// erase sends a consent and an erasure for each customer that it receives from the channel ids. It repeats the erasure
// until the response is successful.
func (a *acknowledged) erase(ctx context.Context, p *process, ids <-chan int64) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-ids:
			if p.request(ctx, id, "POST", "/me/consent") {
				a.note(&a.consents, id)
			}
			a.note(&a.requested, id)
			for !p.request(ctx, id, "DELETE", "/me") {
				select {
				case <-ctx.Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
			a.note(&a.erased, id)
		}
	}
}

func seed(t *testing.T, database string) {
	t.Helper()
	db, err := open(database)
	must(t, err)
	defer func() { _ = db.Close() }()
	shop.Open(t, db, shop.Models)
	for _, statement := range []string{
		"CREATE INDEX ON parcels (customer_id)",
		"INSERT INTO customers (id, email, plan) SELECT n, 'c' || n || '@example.org', 'free' FROM generate_series(1, " +
			strconv.Itoa(customers) + ") AS n",
		"INSERT INTO parcels (customer_id, address) SELECT id, '1 Main Street' FROM customers, generate_series(1, " +
			strconv.Itoa(parcels) + ")",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
}

// wholeErasure has the types of the audit events of one erasure. It has only the events that the request writes, and
// not those that the worker writes later.
const wholeErasure = "erasure_requested erasure_step_succeeded erasure_step_succeeded erasure_local_completed"

// check checks the new primary. It must have every operation that got a successful response, and no part of an
// incomplete erasure.
func check(t *testing.T, database string, done *acknowledged, promoted time.Time) {
	t.Helper()
	db, err := open(database)
	must(t, err)
	defer func() { _ = db.Close() }()
	await(t, 30*time.Second, "an outbox that is done", func() bool {
		open, err := db.NewSelect().Table("habeas_outbox").Where("status <> 'succeeded'").Count(t.Context())
		return err == nil && open == 0
	})
	t.Logf("the outbox was worked off %v after the promotion", time.Since(promoted))
	erased := done.erased
	for _, id := range done.requested {
		if whole := checkAllOrNothing(t, db, id); !whole && slices.Contains(erased, id) {
			t.Errorf("the erasure of %d was acknowledged, and is lost", id)
		}
	}
	for _, id := range done.consents {
		given, err := db.NewSelect().Table("habeas_consent_records").Where("subject_id = ?", strconv.FormatInt(id, 10)).
			Where("granted").Count(t.Context())
		must(t, err)
		if given == 0 {
			t.Errorf("the consent of %d was acknowledged, and is lost", id)
		}
	}
	t.Logf("%d erasures and %d consents were acknowledged", len(erased), len(done.consents))
}

// checkAllOrNothing fails the test if the database has only a part of an erasure of the subject. It reports whether the
// subject is erased.
func checkAllOrNothing(t *testing.T, db *bun.DB, id int64) bool {
	t.Helper()
	ctx, key := t.Context(), strconv.FormatInt(id, 10)
	var customer shop.Customer
	must(t, db.NewSelect().Model(&customer).Where("id = ?", id).Scan(ctx))
	left, err := db.NewSelect().Model((*shop.Parcel)(nil)).Where("customer_id = ?", id).Count(ctx)
	must(t, err)
	var events string
	must(t, db.NewRaw("SELECT COALESCE(string_agg(event_type, ' ' ORDER BY seq), '') FROM habeas_audit_events"+
		" WHERE subject_ref = ? AND event_type NOT LIKE 'consent_%' AND payload ->> 'external' IS DISTINCT FROM 'true'", key).
		Scan(ctx, &events))
	completed := strings.Count(events, "erasure_completed")
	events = strings.ReplaceAll(events, "erasure_completed", "")
	whole := strings.Count(events, wholeErasure)
	rest := strings.ReplaceAll(events, wholeErasure, "") // events of failed erasures
	broken := strings.Contains(rest, "erasure_step_succeeded") || strings.Contains(rest, "erasure_local_completed")
	email := "c" + key + "@example.org"
	untouched := left == parcels && customer.Email == email && whole == 0
	erased := left == 0 && customer.Email != email && whole > 0
	if !untouched && !erased || broken {
		t.Errorf("subject %d: %d parcels, events %s", id, left, events)
	}
	// If the response to an erasure is lost, the client requests a second erasure. The worker may complete both erasures
	// with one event, so there may be fewer events erasure_completed than erasures.
	if erased && (completed == 0 || completed > whole) || untouched && completed > 0 {
		t.Errorf("subject %d: %d erasures were completed %d times", id, whole, completed)
	}
	return erased
}
