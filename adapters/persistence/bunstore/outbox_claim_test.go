package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestAClaimReturnsAllFieldsOfAnEntry(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		want := []domain.OutboxEntry{
			toErase(t, "a", "1", time.Microsecond), toRectify(t, "b", "1", time.Second), toErase(t, "c", "1", time.Minute),
		}
		want[0].SubjectID = subject(t, "tenant", `4\2`, "x\x1fy")
		want[1].Corrections = domain.Corrections{domain.CategoryIdentity: "Zoë", domain.CategorySpecial: true}
		want[2].Ref.Extra = nil
		b.enqueue(t, want...)
		at, until, token := noon, noon.Add(lease), "claimed at "+noon.String()
		for i := range want {
			want[i].Status, want[i].Attempts = domain.OutboxInFlight, 1
			want[i].LastAttemptAt, want[i].NextAttemptAt, want[i].LeaseToken = &at, &until, &token
		}
		if got := b.claim(t, noon, upTo(10)...); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	})
}

func TestTheOldestAreClaimedFirst(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "d", "1", time.Hour), toErase(t, "b", "2", time.Second), toErase(t, "e", "3", 0),
			toErase(t, "c", "4", time.Second), toErase(t, "a", "5", time.Second), toErase(t, "f", "6", 2*time.Second))
		for _, c := range []struct {
			limit int
			want  []string
		}{{1, []string{"e"}}, {0, []string{}}, {2, []string{"a", "b"}}, {10, []string{"c", "f", "d"}}, {10, []string{}}} {
			if got := ids(b.claim(t, noon, upTo(c.limit)...)); !slices.Equal(got, c.want) {
				t.Errorf("up to %d: got %v, want %v", c.limit, got, c.want)
			}
		}
	})
}

func TestOnlyDueEntriesAreClaimed(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		names := []string{"succeeded", "abandoned", "failed", "failed long ago", "given back", "in flight"}
		for i, name := range names {
			b.enqueue(t, toErase(t, name, name, time.Duration(i)*time.Second))
		}
		e := b.claimOf(t, noon, names...)
		b.settle(t, succeeds(e[0]), abandons(e[1]), fails(e[2], noon.Add(lease)), fails(e[3], noon.Add(time.Second)),
			givesBack(e[4]))
		b.enqueue(t, toErase(t, "pending", "p", time.Hour))
		early, late := noon.Add(lease-time.Microsecond), noon.Add(lease)
		want := []string{"failed long ago", "given back", "pending"}
		if got := ids(b.claim(t, early, upTo(10)...)); !slices.Equal(got, want) {
			t.Errorf("before: got %v, want %v", got, want)
		}
		want = []string{"failed", "in flight"}
		if got := ids(b.claim(t, late, upTo(10)...)); !slices.Equal(got, want) {
			t.Errorf("once they are due: got %v, want %v", got, want)
		}
	})
}

func TestEveryClaimIsOneAttemptMoreUnderAnotherLease(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "a", "1", 0))
		at, tokens := noon, map[string]bool{}
		for attempts := 1; attempts < 5; attempts++ { // the entry is never settled
			claimed := b.claim(t, at, upTo(1)...)
			if len(claimed) != 1 || claimed[0].Attempts != attempts || !claimed[0].LastAttemptAt.Equal(at) ||
				!claimed[0].NextAttemptAt.Equal(at.Add(lease)) || tokens[*claimed[0].LeaseToken] {
				t.Fatalf("attempt %d: got %+v", attempts, claimed)
			}
			tokens[*claimed[0].LeaseToken] = true
			at = at.Add(lease)
		}
	})
}

func TestAClaimThatIsRolledBackChangesNothing(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "a", "1", 0))
		err := b.try(func(ctx context.Context, outbox wholeOutbox) error {
			claimed, err := outbox.Claim(ctx, query(noon, "token", upTo(10)...))
			if err != nil || len(claimed) != 1 {
				t.Errorf("got %v, %v", claimed, err)
			}
			return errHost
		})
		if !errors.Is(err, errHost) {
			t.Fatal(err)
		}
		if got := b.row(t, "a").String(); got != "pending 0 ref" {
			t.Errorf("left is %s", got)
		}
	})
}

func TestASessionClaimsItsOwnEntries(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.do(t, func(ctx context.Context, outbox wholeOutbox) error {
			must(t, outbox.Enqueue(ctx, toErase(t, "a", "1", 0)))
			claimed, err := outbox.Claim(ctx, query(noon, "token", upTo(10)...))
			if !slices.Equal(ids(claimed), []string{"a"}) {
				t.Errorf("got %v", claimed)
			}
			return err
		})
	})
}

func TestNewWorkWakesAfterTheCommit(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		dataMap, err := bunmodels.Read(db, models[:1], nil)
		must(t, err)
		var woken atomic.Int64
		b.store, err = bunstore.New(db, dataMap, bunstore.Options{Enqueued: func() { woken.Add(1) }})
		must(t, err)
		wakes := func(what string, want int64, fn func()) {
			t.Helper()
			woken.Store(0)
			if fn(); woken.Load() != want {
				t.Errorf("%s woke %d times, want %d", what, woken.Load(), want)
			}
		}
		wakes("an enqueue", 1, func() { b.enqueue(t, numbered(t, 3)...) })
		wakes("a rollback", 0, func() {
			_ = b.try(func(ctx context.Context, outbox wholeOutbox) error {
				must(t, outbox.Enqueue(ctx, toErase(t, "a", "1", 0)))
				return errHost
			})
		})
		var claimed []domain.OutboxEntry
		wakes("a claim", 0, func() { claimed = b.claim(t, noon, upTo(10)...) })
		wakes("a settlement", 0, func() { b.settle(t, abandons(claimed[0])) })
		wakes("a requeue of nothing", 0, func() { b.requeue(t, "e0001") })
		wakes("a requeue", 1, func() { b.requeue(t, "e0000") })
	})
}

// The clock of another process was ahead, so the last attempt of one entry is in the future. Due retries come first.
func TestAnEntryThatAWrongClockPostponedComesLast(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "postponed", "7", 0))
		ahead := noon.Add(time.Hour)
		b.settle(t, fails(b.claim(t, ahead, upTo(1)...)[0], ahead.Add(time.Minute)))
		b.enqueue(t, toErase(t, "first", "7", time.Second), toErase(t, "second", "7", 2*time.Second))
		for _, entry := range b.claim(t, noon.Add(-time.Hour), domain.Take{
			Resolver: "desk", Operation: domain.OperationErase, Fresh: 2,
		}) {
			b.settle(t, fails(entry, noon))
		}
		for _, want := range [][]string{{"first", "second"}, {"postponed"}} {
			if got := ids(b.claim(t, noon, upTo(2)...)); !slices.Equal(got, want) {
				t.Errorf("claimed %v, want %v", got, want)
			}
		}
	})
}

func TestAClaimOfManyTakesIsComplete(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		var takes []domain.Take
		for i := range 450 {
			entry := toErase(t, fmt.Sprintf("e%03d", i), "7", time.Duration(i)*time.Second)
			entry.Resolver = entry.EntryID
			b.enqueue(t, entry)
			takes = append(takes, domain.Take{Resolver: entry.Resolver, Operation: entry.Operation, Fresh: 1, Retries: 1})
		}
		if claimed := b.claim(t, noon, takes...); len(claimed) != len(takes) {
			t.Errorf("%d were claimed", len(claimed))
		}
	})
}
