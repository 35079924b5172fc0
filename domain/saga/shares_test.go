package saga

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// key identifies a stream.
type key struct {
	system    string
	operation domain.Operation
	retries   bool
}

// backlog is an outbox that has only numbers of due entries.
type backlog struct {
	ports.Outbox
	due    map[key]int
	claims [][]domain.Take
}

type backlogSession struct {
	ports.Session
	*backlog
}

func (s backlogSession) Outbox() ports.Outbox { return s.backlog }

func (b *backlog) Claim(_ context.Context, query domain.ClaimQuery) (claimed []domain.OutboxEntry, _ error) {
	b.claims = append(b.claims, query.Takes)
	for _, take := range query.Takes {
		for attempts, most := range []int{1: take.Fresh, 2: take.Retries} {
			k := key{take.Resolver, take.Operation, attempts == 2}
			n := min(b.due[k], most)
			b.due[k] -= n
			claimed = append(claimed, slices.Repeat([]domain.OutboxEntry{{
				Resolver: take.Resolver, Operation: take.Operation, Attempts: attempts,
			}}, n)...)
		}
	}
	return claimed, nil
}

// fleet has the streams of several systems, and a limit for each system.
type fleet struct {
	shares
	limits map[string]int
	keys   []key
}

func newFleet(limits map[string]int, operations ...domain.Operation) *fleet {
	f := &fleet{limits: limits}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		for _, operation := range operations {
			f.add(name, operation)
			f.keys = append(f.keys, key{name, operation, false}, key{name, operation, true})
		}
	}
	return f
}

var bothOperations = []domain.Operation{domain.OperationErase, domain.OperationRectify}

func drawFleet(t *rapid.T) *fleet {
	limits := map[string]int{}
	for i := range rapid.IntRange(1, 5).Draw(t, "systems") {
		limits[fmt.Sprint("system-", i)] = rapid.IntRange(1, 60).Draw(t, "limit")
	}
	return newFleet(limits, bothOperations[:rapid.IntRange(1, 2).Draw(t, "operations")]...)
}

// claim makes a claim of at most n entries, and returns the batch.
func (f *fleet) claim(t rapid.TB, b *backlog, n int) batch {
	t.Helper()
	b.claims = nil
	r := &Runner{config: Config{Clock: system.Clock{}, IDs: &system.IDs{}, Options: Options{Batch: n, Lease: time.Minute}}}
	streams := f.of(f.limits)
	claimed, err := r.take(context.Background(), backlogSession{backlog: b}, streams, f.limits)
	if err != nil {
		t.Fatal(err)
	}
	f.record(streams)
	return claimed
}

func (f *fleet) room(n int) int {
	room := 0
	for _, limit := range f.limits {
		room += limit
	}
	return min(n, room)
}

// total returns the sum of the numbers for which the function returns true.
func total(takes []domain.Take, of func(key) bool) (n int) {
	for _, take := range takes {
		if of(key{take.Resolver, take.Operation, false}) {
			n += take.Fresh
		}
		if of(key{take.Resolver, take.Operation, true}) {
			n += take.Retries
		}
	}
	return n
}

func anyStream(key) bool { return true }

func ofSystem(name string) func(key) bool { return func(k key) bool { return k.system == name } }

func TestADealGivesAllThatTheLimitsPermit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		n := rapid.IntRange(0, 200).Draw(t, "n")
		takes := deal(n, f.of(f.limits), f.limits)
		if got := total(takes, anyStream); got != f.room(n) {
			t.Errorf("%d were dealt, want %d", got, f.room(n))
		}
		seen := map[string]bool{}
		for _, take := range takes {
			name := take.Resolver + string(take.Operation)
			if seen[name] || take.Fresh < 0 || take.Retries < 0 {
				t.Errorf("a take is %+v, after %v", take, seen)
			}
			seen[name] = true
		}
		for name, limit := range f.limits {
			if got := total(takes, ofSystem(name)); got > limit {
				t.Errorf("%d of %s, and its limit is %d", got, name, limit)
			}
		}
	})
}

func TestADealGivesTheSystemsEqualShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		takes := deal(rapid.IntRange(0, 200).Draw(t, "n"), f.of(f.limits), f.limits)
		most := 0
		for name := range f.limits {
			most = max(most, total(takes, ofSystem(name)))
		}
		for name, limit := range f.limits {
			if share := total(takes, ofSystem(name)); share < most-1 && share < limit {
				t.Errorf("%s has %d, another one has %d, and the limits are %v", name, share, most, f.limits)
			}
		}
	})
}

func TestAClaimFillsThreeQuartersOfItsRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		b := &backlog{due: map[key]int{}}
		for range 20 {
			n := rapid.IntRange(1, 100).Draw(t, "n")
			for _, k := range f.keys {
				b.due[k] += max(0, rapid.IntRange(-50, 50).Draw(t, "added"))
			}
			taken := f.claim(t, b, n)
			if taken.size() > f.room(n) {
				t.Errorf("%d were claimed, and the room is %d", taken.size(), f.room(n))
			}
			for name, limit := range f.limits {
				if got := countOf(taken.entries, name); got > limit {
					t.Errorf("%d of %s were claimed, and its limit is %d", got, name, limit)
				}
			}
			if 4*taken.size() >= 3*f.room(n) {
				continue
			}
			for _, k := range f.keys {
				if b.due[k] > 0 && countOf(taken.entries, k.system) < f.limits[k.system] {
					t.Errorf("%d of %d were claimed by %v, and %d are left of %v", taken.size(), f.room(n), b.claims, b.due[k], k)
				}
			}
		}
	})
}

// Whatever the other streams have, each stream is asked after a bounded number of claims.
func TestNoStreamStarves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		n := rapid.IntRange(1, 60).Draw(t, "n")
		endless, asked := map[key]int{}, map[key]int{}
		for _, k := range f.keys {
			endless[k] = rapid.SampledFrom([]int{0, 0, 1, 1_000_000}).Draw(t, "endless")
		}
		longest := 2 * patience * len(f.keys)
		for turn := range 2 * longest {
			b := &backlog{due: maps.Clone(endless)}
			f.claim(t, b, n)
			for _, takes := range b.claims {
				for _, k := range f.keys {
					if total(takes, func(other key) bool { return other == k }) > 0 {
						asked[k] = turn
					}
				}
			}
			for _, k := range f.keys {
				if turn-asked[k] > longest {
					t.Fatalf("%v was not asked for %d claims of %d entries, with %v and %v", k, longest, n, f.limits, endless)
				}
			}
		}
	})
}

func TestAFullBatchLeavesMoreForOthers(t *testing.T) {
	for what, c := range map[string]struct {
		due, limit, batch int
		want              bool
	}{
		"nothing is due":             {0, 200, 200, false},
		"few are due":                {10, 200, 200, false},
		"many are due":               {1000, 200, 200, true},
		"the system has its maximum": {1000, 10, 200, false},
	} {
		f := newFleet(map[string]int{"desk": c.limit}, domain.OperationErase)
		b := &backlog{due: map[key]int{{"desk", domain.OperationErase, false}: c.due}}
		if got := f.claim(t, b, c.batch); got.full != c.want {
			t.Errorf("%s: full is %v after a claim of %d", what, got.full, got.size())
		}
	}
}
