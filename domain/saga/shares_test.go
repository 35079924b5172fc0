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

// drawStreams returns the streams of the fleet in any state.
func (f *fleet) drawStreams(t *rapid.T) []*stream {
	streams := f.of(f.limits)
	for _, s := range streams {
		s.more = rapid.Bool().Draw(t, "more")
		s.found = rapid.IntRange(0, 50).Draw(t, "found")
		s.waited = rapid.IntRange(0, 2*patience).Draw(t, "waited")
	}
	return streams
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
		takes := deal(n, f.drawStreams(t), f.limits)
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

func TestADealSharesEqually(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		n := rapid.IntRange(0, 200).Draw(t, "n")
		streams := f.of(f.limits)
		for _, s := range streams {
			s.more = true
		}
		takes := deal(n, streams, f.limits)
		even := func(what string, shares map[string]int, limits map[string]int) {
			most := slices.Max(slices.Collect(maps.Values(shares)))
			for name, share := range shares {
				if share < most-1 && share < limits[name] {
					t.Errorf("the %s have %v", what, shares)
				}
			}
		}
		systems := map[string]int{}
		for name := range f.limits {
			systems[name] = total(takes, ofSystem(name))
			operations, kinds := map[string]int{}, map[string]int{}
			for _, k := range f.keys {
				if k.system == name {
					share := total(takes, func(other key) bool { return other == k })
					operations[string(k.operation)] += share
					kinds[fmt.Sprint(k.operation, k.retries)] = share
				}
			}
			unlimited := map[string]int{"erase": n, "rectify": n}
			even("operations of "+name, operations, unlimited)
			for operation := range operations {
				even("kinds of "+operation, map[string]int{
					"fresh": kinds[operation+"false"], "retries": kinds[operation+"true"],
				}, map[string]int{"fresh": n, "retries": n})
			}
		}
		even("systems", systems, f.limits)
	})
}

// From time to time, a twentieth is kept for systems and operations that had no entries, and a tenth for the other kind
// of entries.
func TestADealKeepsAPartForTheOthers(t *testing.T) {
	for what, f := range map[string]struct {
		limits     map[string]int
		operations []domain.Operation
		isFull     func(k key) bool
		kept       int
	}{
		"systems": {
			map[string]int{"desk": 500, "mail": 500}, bothOperations, ofSystem("desk"), 10,
		},
		"operations": {
			map[string]int{"desk": 500}, bothOperations, func(k key) bool { return k.operation == domain.OperationErase }, 10,
		},
		"new entries": {
			map[string]int{"desk": 500}, bothOperations[:1], func(k key) bool { return !k.retries }, 20,
		},
		"retries": {
			map[string]int{"desk": 500}, bothOperations[:1], func(k key) bool { return k.retries }, 20,
		},
	} {
		fleet := newFleet(f.limits, f.operations...)
		streams := fleet.of(f.limits)
		for _, c := range []struct{ waited, kept int }{{patience - 1, 0}, {patience, f.kept}} {
			for i, s := range streams {
				s.more, s.waited = f.isFull(fleet.keys[i]), c.waited
			}
			takes := deal(200, streams, f.limits)
			full, others := total(takes, f.isFull), total(takes, func(k key) bool { return !f.isFull(k) })
			if others != c.kept || full != 200-c.kept {
				t.Errorf("%s, after %d claims: %d and %d of 200, want %d for the others", what, c.waited, full, others, c.kept)
			}
		}
	}
}

func TestADealFollowsTheLastBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFleet(map[string]int{"desk": 1000, "mail": 1000}, bothOperations...)
		streams := f.of(f.limits)
		left := 100
		for _, s := range streams {
			s.found = rapid.IntRange(0, left).Draw(t, "found")
			left -= s.found
		}
		takes := deal(200, streams, f.limits)
		for i, s := range streams {
			k := f.keys[i]
			if got := total(takes, func(other key) bool { return other == k }); got < s.found {
				t.Errorf("%v had %d in the last batch, and gets %d", k, s.found, got)
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

// The first batches after a pause show which streams have entries. Then each claim takes one statement.
func TestABacklogIsClaimedByOneTakePerBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := map[string]int{}
		for i := range rapid.IntRange(1, 4).Draw(t, "systems") {
			limits[fmt.Sprint("system-", i)] = 1000
		}
		f := newFleet(limits, bothOperations...)
		b := &backlog{due: map[key]int{}}
		b.due[rapid.SampledFrom(f.keys).Draw(t, "one")] = 1_000_000
		b.due[rapid.SampledFrom(f.keys).Draw(t, "another")] = 1_000_000
		for range 3 {
			f.claim(t, b, 200)
		}
		for range 20 {
			if taken := f.claim(t, b, 200); len(b.claims) != 1 || !taken.full {
				t.Errorf("%d takes for %d entries: %v", len(b.claims), taken.size(), b.claims)
			}
		}
	})
}

func TestClaimsOfOneEntryAlternate(t *testing.T) {
	f := newFleet(map[string]int{"desk": 1, "mail": 1}, bothOperations...)
	b, turns := &backlog{due: map[key]int{}}, map[key]int{}
	for _, k := range f.keys {
		b.due[k] = 1000
	}
	for range 5 * patience { // so that each stream is known to have entries
		f.claim(t, b, 1)
	}
	for range 10 * len(f.keys) {
		before := maps.Clone(b.due)
		f.claim(t, b, 1)
		for k, n := range b.due {
			turns[k] += before[k] - n
		}
	}
	for _, k := range f.keys {
		if turns[k] != 10 {
			t.Errorf("%v had %d of %d claims", k, turns[k], 10*len(f.keys))
		}
	}
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

// Batches of the same size take one statement each, and find all entries.
func TestEqualBatchesTakeOneStatement(t *testing.T) {
	f := newFleet(map[string]int{"desk": 200}, domain.OperationErase)
	k := key{"desk", domain.OperationErase, false}
	for batch := range 10 {
		b := &backlog{due: map[key]int{k: 140}}
		if f.claim(t, b, 200); batch > 1 && (b.due[k] > 0 || len(b.claims) > 1) {
			t.Errorf("batch %d: %d are left after the takes %v", batch, b.due[k], b.claims)
		}
	}
}
