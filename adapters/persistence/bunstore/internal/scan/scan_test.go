package scan_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/scan"
	"github.com/habeas-data/habeas/domain"
)

// outbox is the outbox of one system. It claims entries with a scan.Scans, and settles them immediately. Its clock is
// that of a synctest bubble.
type outbox struct {
	scan.Scans
	open    []domain.OutboxEntry
	settled []time.Time // due instants, in order
	n       int

	each      time.Duration // cost of a settled entry in the range of a scan
	fromStart time.Duration // cost of a scan that reads from the beginning of the index
	reads     []scan.BoundedTake
	most      time.Duration // duration of the longest scan
	fails     bool          // attempts fail, so that the entries become retries
	dead      int64         // number of dead rows
}

// add adds a new entry that was enqueued at the given instant.
func (o *outbox) add(at time.Time) {
	o.n++
	o.open = append(o.open, domain.OutboxEntry{
		EntryID: fmt.Sprint(o.n), Resolver: "crm", Operation: domain.OperationErase, EnqueuedAt: at,
	})
}

func (o *outbox) deadRows() (int64, error) { return o.dead, nil }

func dueAt(e domain.OutboxEntry) time.Time {
	if e.NextAttemptAt != nil {
		return *e.NextAttemptAt
	}
	return e.EnqueuedAt
}

// claim claims up to 180 new entries and 20 retries, and returns the number of claimed entries.
func (o *outbox) claim(t *testing.T) int {
	t.Helper()
	takes := []domain.Take{{Resolver: "crm", Operation: domain.OperationErase, Fresh: 180, Retries: 20}}
	claimed, err := o.Claim(time.Now(), takes, o.read, o.deadRows)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range claimed {
		if i, _ := slices.BinarySearchFunc(o.settled, dueAt(entry), time.Time.Compare); o.each > 0 {
			o.settled = slices.Insert(o.settled, i, dueAt(entry))
		}
		if o.fails {
			next := time.Now().Add(time.Duration(entry.Attempts) * 30 * time.Second)
			entry.NextAttemptAt = &next
			o.open = append(o.open, entry)
		}
	}
	return len(claimed)
}

// read takes the entries within the bounds, and takes as long as the database would.
func (o *outbox) read(takes []scan.BoundedTake) (claimed []domain.OutboxEntry, _ error) {
	for _, take := range takes {
		o.reads = append(o.reads, take)
		until := take.Until
		if until.IsZero() {
			until = time.Now()
		}
		first, _ := slices.BinarySearchFunc(o.settled, take.FreshFrom, time.Time.Compare)
		last, _ := slices.BinarySearchFunc(o.settled, until.Add(1), time.Time.Compare)
		took := time.Duration(max(0, last-first)) * o.each
		if take.FreshFrom.IsZero() {
			took += o.fromStart
		}
		time.Sleep(took)
		o.most = max(o.most, took)
		slices.SortStableFunc(o.open, func(a, b domain.OutboxEntry) int { return dueAt(a).Compare(dueAt(b)) })
		fresh, retries := take.Fresh, take.Retries
		o.open = slices.DeleteFunc(o.open, func(e domain.OutboxEntry) bool {
			from, left := take.FreshFrom, &fresh
			if e.NextAttemptAt != nil {
				from, left = take.RetriesFrom, &retries
			}
			if *left <= 0 || dueAt(e).Before(from) || dueAt(e).After(until) || dueAt(e).After(time.Now()) {
				return false
			}
			*left--
			e.Attempts++
			claimed = append(claimed, e)
			return true
		})
	}
	return claimed, nil
}

// readFromStart returns the number of the last n reads that began at the beginning of the index.
func (o *outbox) readFromStart(n int) (count int) {
	for _, take := range o.reads[len(o.reads)-n:] {
		if take.FreshFrom.IsZero() {
			count++
		}
	}
	return count
}

// drain claims every 50 ms until no entry is open, and returns the time that this took.
func (o *outbox) drain(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	for ; len(o.open) > 0 && time.Since(began) < time.Hour; time.Sleep(50 * time.Millisecond) {
		o.claim(t)
	}
	return time.Since(began)
}

// churn adds and claims an entry every 20 ms for the duration d.
func (o *outbox) churn(t *testing.T, d time.Duration) {
	t.Helper()
	for began := time.Now(); time.Since(began) < d; time.Sleep(20 * time.Millisecond) {
		o.add(time.Now())
		o.claim(t)
	}
}

func bubble(t *testing.T, o *outbox, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.dead = 5000
		o.RoundTrip(time.Nanosecond)
		o.RoundTrip(time.Second) // the shortest one counts
		test(t)
	})
}

func TestClaimsScanRecentEntriesWhileFullScansAreSlow(t *testing.T) {
	o := &outbox{fromStart: 20 * time.Millisecond}
	bubble(t, o, func(t *testing.T) {
		for range 400 {
			o.add(time.Now())
			if n := o.claim(t); n != 1 {
				t.Fatalf("%d were claimed", n)
			}
			time.Sleep(10 * time.Millisecond)
		}
		// The first ten claims are slow full scans. Afterwards, the claims read only recent entries. About
		// every 2 s, one claim also reads from the beginning. The remaining claims take about 4 s, so one to three such
		// claims follow.
		if n := o.readFromStart(len(o.reads)); n > 10+3 || n < 10+1 {
			t.Errorf("%d of %d claims read from the beginning", n, len(o.reads))
		}
		// Claims of recent entries do not find an entry that appears with a due time of a minute ago. The next scan of older
		// due times finds it.
		o.add(time.Now().Add(-time.Minute))
		if took := o.drain(t); took > 5*time.Second {
			t.Errorf("an entry that was committed late was found after %v", took)
		}
		o.fromStart = 0
		for range 300 {
			o.claim(t)
			time.Sleep(10 * time.Millisecond)
		}
		if n := o.readFromStart(20); n != 20 {
			t.Errorf("%d of 20 claims make a full scan after full scans became fast", n)
		}
	})
}

// A statement cannot be faster than the network. A scan is slow only if the database takes long.
func TestASlowNetworkDoesNotMakeScansSlow(t *testing.T) {
	o := &outbox{fromStart: 20 * time.Millisecond}
	synctest.Test(t, func(t *testing.T) {
		o.RoundTrip(19 * time.Millisecond)
		o.churn(t, 10*time.Second)
		if n := o.readFromStart(len(o.reads)); n != len(o.reads) {
			t.Errorf("%d of %d claims make a full scan", n, len(o.reads))
		}
	})
}

// On a busy server, every statement is slow.
func TestScansStayFullWithoutDeadRows(t *testing.T) {
	o := &outbox{fromStart: 20 * time.Millisecond, dead: 4999}
	synctest.Test(t, func(t *testing.T) {
		o.RoundTrip(time.Nanosecond)
		o.churn(t, 10*time.Second)
		if n := o.readFromStart(len(o.reads)); n != len(o.reads) {
			t.Errorf("%d of %d claims make a full scan", n, len(o.reads))
		}
	})
}

func TestABacklogIsNotSkipped(t *testing.T) {
	o := &outbox{fromStart: 40 * time.Millisecond}
	bubble(t, o, func(t *testing.T) {
		for range 300 {
			o.add(time.Now())
		}
		for range 1000 { // includes retries
			o.fails = !o.fails
			o.claim(t)
			time.Sleep(10 * time.Millisecond)
		}
		o.fails = false
		if took := o.drain(t); took > 10*time.Minute {
			t.Errorf("%d entries are left after %v and %d claims, %d of them from the beginning", len(o.open), took,
				len(o.reads), o.readFromStart(len(o.reads)))
		}
	})
}

func TestAnEntryThatIsCommittedASecondLateIsFoundImmediately(t *testing.T) {
	o := &outbox{fromStart: 20 * time.Millisecond}
	bubble(t, o, func(t *testing.T) {
		o.churn(t, 5*time.Second)
		for range 50 {
			o.add(time.Now().Add(-900 * time.Millisecond))
			if n := o.claim(t); n != 1 {
				t.Fatalf("%d were claimed", n)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

func TestAWindowWhoseScanFailedIsScannedAgain(t *testing.T) {
	o := &outbox{fromStart: 20 * time.Millisecond}
	bubble(t, o, func(t *testing.T) {
		o.churn(t, 5*time.Second)
		o.add(time.Now().Add(-time.Minute))
		o.Restart()
		takes := []domain.Take{{Resolver: "crm", Operation: domain.OperationErase, Fresh: 180, Retries: 20}}
		failure := errors.New("the connection was lost")
		if _, err := o.Claim(time.Now(), takes, func([]scan.BoundedTake) ([]domain.OutboxEntry, error) {
			return nil, failure
		}, o.deadRows); !errors.Is(err, failure) {
			t.Errorf("got %v", err)
		}
		if n := o.claim(t); n != 1 {
			t.Errorf("%d were claimed", n)
		}
	})
}

func TestARequeuedEntryIsFoundImmediately(t *testing.T) {
	o := &outbox{fromStart: 100 * time.Millisecond}
	bubble(t, o, func(t *testing.T) {
		began := time.Now()
		for range 100 {
			o.claim(t)
			time.Sleep(100 * time.Millisecond)
		}
		o.add(began)
		o.Restart()
		if n := o.claim(t); n != 1 {
			t.Errorf("%d were claimed", n)
		}
	})
}

// While an old snapshot prevents the removal of dead rows, settled entries slow down each scan of their due instants.
func TestNoClaimReadsAllSettledEntries(t *testing.T) {
	o := &outbox{each: 20 * time.Microsecond}
	bubble(t, o, func(t *testing.T) {
		o.churn(t, 40*time.Second)
		all := time.Duration(len(o.settled)) * o.each
		if o.most > 6*time.Millisecond || all < 20*time.Millisecond {
			t.Errorf("a scan took up to %v, and a full scan would have taken %v", o.most, all)
		}
		// An entry that appears late is found within 20 s, however old its due instant is. In every second case, the claims
		// also find new entries.
		for i, age := range []time.Duration{
			time.Second, 2 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, time.Hour, 1000 * time.Hour,
		} {
			o.add(time.Now().Add(-age))
			began := time.Now()
			for len(o.open) > 0 {
				if i%2 == 0 {
					o.add(time.Now())
				}
				o.claim(t)
				time.Sleep(50 * time.Millisecond)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("an entry of %v ago was found after %v", age, took)
			}
		}
		if o.most > 6*time.Millisecond {
			t.Errorf("a scan took up to %v", o.most)
		}
	})
}

// Many entries are added late, all with the same old due instant. They are claimed within 20 s.
func TestABacklogWithinAWindowIsProcessed(t *testing.T) {
	for name, retries := range map[string]bool{"new entries": false, "retries": true} {
		t.Run(name, func(t *testing.T) {
			o := &outbox{each: 20 * time.Microsecond}
			bubble(t, o, func(t *testing.T) {
				o.churn(t, 20*time.Second)
				old := time.Now().Add(-10 * time.Second)
				for range 6000 {
					o.add(old)
				}
				if retries {
					o.open = o.open[:1500]
					for i := range o.open {
						o.open[i].Attempts, o.open[i].NextAttemptAt = 1, &old
					}
				}
				if took := o.drain(t); took > 20*time.Second {
					t.Errorf("the entries were claimed after %v", took)
				}
			})
		})
	}
}

func TestClaimsMakeFullScansAgainOnceTheyAreFast(t *testing.T) {
	o := &outbox{each: 20 * time.Microsecond}
	bubble(t, o, func(t *testing.T) {
		o.churn(t, 30*time.Second)
		o.each = 0
		o.churn(t, 16*time.Second)
		o.reads = nil
		const claims = 20
		for range claims {
			o.claim(t)
		}
		if len(o.reads) != claims {
			t.Errorf("%d claims made %d scans", claims, len(o.reads))
		}
	})
}

// A claim that finds nothing scans the windows of the round for about a second, and leaves the rest to later claims.
func TestAClaimOfNothingEndsAfterASecond(t *testing.T) {
	o := &outbox{each: 20 * time.Microsecond}
	bubble(t, o, func(t *testing.T) {
		o.churn(t, 4*time.Minute)
		longest := time.Duration(0)
		for range 100 {
			time.Sleep(time.Second)
			began := time.Now()
			o.each = time.Millisecond
			o.claim(t)
			longest = max(longest, time.Since(began))
		}
		if longest > 1500*time.Millisecond || longest < 900*time.Millisecond {
			t.Errorf("the longest claim took %v", longest)
		}
	})
}
