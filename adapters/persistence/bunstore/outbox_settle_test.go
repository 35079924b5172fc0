package bunstore_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestASettlementDeletesRefsAndCorrections(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		for name, c := range map[string]struct {
			settle                     func(domain.OutboxEntry) domain.Settlement
			wantErasure, wantRectified string
		}{
			"succeeded":  {succeeds, "succeeded 1", "succeeded 1"},
			"abandoned":  {abandons, "abandoned 1 ref refused", "abandoned 1 refused"},
			"given back": {givesBack, "pending 0 ref", "pending 0 corrections ref"},
			"failed": {
				func(entry domain.OutboxEntry) domain.Settlement { return fails(entry, noon.Add(time.Hour)) },
				"failed 1 ref internal 13:00:00", "failed 1 corrections ref internal 13:00:00",
			},
		} {
			erasure, rectification := "e "+name, "r "+name
			b.enqueue(t, toErase(t, erasure, "1", 0), toRectify(t, rectification, "2", 0))
			e := b.claimOf(t, noon, erasure, rectification)
			in := "in_flight 1 corrections leased ref 12:01:00"
			if got := b.row(t, rectification); got.String() != in || !got.LastAttemptAt.Equal(noon) {
				t.Fatalf("in flight: %v", got)
			}
			b.settle(t, c.settle(e[0]), c.settle(e[1]))
			if got := b.row(t, erasure); got.String() != c.wantErasure || !got.LastAttemptAt.Equal(noon) {
				t.Errorf("the erasure: got %s, want %s", got, c.wantErasure)
			}
			if got := b.row(t, rectification); got.String() != c.wantRectified {
				t.Errorf("the rectification: got %s, want %s", got, c.wantRectified)
			}
			b.claim(t, noon, upTo(10)...) // claims the entries that were given back
		}
	})
}

// wantUnchanged fails if fn changes the entry.
func (b box) wantUnchanged(t *testing.T, entryID string, fn func()) {
	t.Helper()
	before := b.row(t, entryID)
	fn()
	if after := b.row(t, entryID); !reflect.DeepEqual(after, before) {
		t.Errorf("%s was %v and is %v", entryID, before, after)
	}
}

func TestASettlementUnderAnotherLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "claimed again", "1", 0), toErase(t, "settled", "2", 0), toErase(t, "given back", "3", 0),
			toErase(t, "failed", "4", 0), toErase(t, "abandoned", "5", 0))
		names := []string{"claimed again", "settled", "given back", "failed", "abandoned"}
		first := b.claimOf(t, noon, names...)
		b.settle(t, succeeds(first[1]), givesBack(first[2]), fails(first[3], noon.Add(time.Hour)), abandons(first[4]))
		retry := domain.Take{Resolver: "desk", Operation: domain.OperationErase, Retries: 1}
		if again := b.claim(t, noon.Add(lease), retry); !slices.Equal(ids(again), []string{"claimed again"}) {
			t.Fatalf("got %v", again)
		}
		b.enqueue(t, toErase(t, "never claimed", "6", 0))
		token := ""
		for _, entry := range append(first, toErase(t, "never claimed", "6", 0)) {
			empty, none := entry, entry
			empty.LeaseToken, none.LeaseToken = &token, nil
			b.wantUnchanged(t, entry.EntryID, func() {
				for _, e := range []domain.OutboxEntry{entry, empty, none} {
					got := b.settle(t, succeeds(e), fails(e, noon), abandons(e), givesBack(e))
					if !slices.Equal(got, []domain.SettleResult{stale, stale, stale, stale}) {
						t.Errorf("%s: got %v", e.EntryID, got)
					}
				}
			})
		}
		first[0].EntryID = "never enqueued"
		if got := b.settle(t, succeeds(first[0])); !slices.Equal(got, []domain.SettleResult{stale}) {
			t.Errorf("never enqueued: got %v", got)
		}
	})
}

func TestABatchMixesSubjectsOperationsAndOutcomes(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		tenant := toErase(t, "g", "x", 0)
		tenant.SubjectID = subject(t, "tenant", "1")
		b.enqueue(t, toErase(t, "a", "1", 0), toErase(t, "b", "1", 0), toRectify(t, "c", "1", 0), toRectify(t, "d", "2", 0),
			toErase(t, "e", "2", 0), toErase(t, "f", "tenant", 0), tenant)
		e := b.claimOf(t, noon, "g", "f", "e", "d", "c", "b", "a")
		lost := e[6]
		lost.LeaseToken = &lost.EntryID
		got := b.settle(t, succeeds(e[0]), abandons(e[1]), succeeds(e[2]), fails(e[3], noon), succeeds(e[4]), succeeds(e[5]),
			succeeds(lost))
		want := []domain.SettleResult{completes, applied, completes, applied, completes, applied, stale}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for id, want := range map[string]string{
			"a": "in_flight 1 leased ref 12:01:00", "b": "succeeded 1", "c": "succeeded 1", "e": "succeeded 1",
			"g": "succeeded 1",
			"d": "failed 1 corrections ref internal 12:00:00", "f": "abandoned 1 ref refused",
		} {
			if got := b.row(t, id).String(); got != want {
				t.Errorf("%s is %s, want %s", id, got, want)
			}
		}
		if got := b.settle(t); len(got) != 0 {
			t.Errorf("of nothing came %v", got)
		}
	})
}

func TestTheFirstOfTwoSettlementsCounts(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "a", "1", 0), toErase(t, "b", "2", 0))
		e := b.claimOf(t, noon, "a", "b")
		got := b.settle(t, abandons(e[0]), succeeds(e[1]), succeeds(e[0]), abandons(e[1]))
		if !slices.Equal(got, []domain.SettleResult{applied, completes, stale, stale}) {
			t.Errorf("got %v", got)
		}
		if a, b := b.row(t, "a").String(), b.row(t, "b").String(); a != "abandoned 1 ref refused" || b != "succeeded 1" {
			t.Errorf("left are %s and %s", a, b)
		}
	})
}

func TestASettlementThatIsRolledBackChangesNothing(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "a", "1", 0))
		entry := b.claimOf(t, noon, "a")[0]
		b.wantUnchanged(t, "a", func() {
			_ = b.try(func(ctx context.Context, outbox wholeOutbox) error {
				_, err := outbox.Settle(ctx, []domain.Settlement{succeeds(entry)})
				must(t, err)
				return errHost
			})
		})
		if got := b.settle(t, succeeds(entry)); !slices.Equal(got, []domain.SettleResult{completes}) {
			t.Errorf("got %v", got)
		}
	})
}

// Each case has its own subject, and all cases use one outbox. Settlements of other subjects must not affect the result
// of a case.
func TestAnOperationCompletesWithTheLastEntryThatSucceeds(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Hour)
	type results = []domain.SettleResult
	for name, c := range map[string]struct {
		entries int
		settle  func(e []domain.OutboxEntry) [][]domain.Settlement // one session for each element
		want    []results
	}{
		"an only one": {
			1, func(e []domain.OutboxEntry) [][]domain.Settlement { return [][]domain.Settlement{{succeeds(e[0])}} },
			[]results{{completes}},
		},
		"two in one session": {
			2, func(e []domain.OutboxEntry) [][]domain.Settlement {
				return [][]domain.Settlement{{succeeds(e[1]), succeeds(e[0])}}
			}, []results{{applied, completes}},
		},
		"two, one after the other": {
			2, func(e []domain.OutboxEntry) [][]domain.Settlement {
				return [][]domain.Settlement{{succeeds(e[1])}, {succeeds(e[0])}}
			}, []results{{applied}, {completes}},
		},
		"another is in flight": {
			3, func(e []domain.OutboxEntry) [][]domain.Settlement {
				return [][]domain.Settlement{{succeeds(e[0]), succeeds(e[2])}}
			}, []results{{applied, applied}},
		},
		"another has failed": {
			2, func(e []domain.OutboxEntry) [][]domain.Settlement {
				return [][]domain.Settlement{{fails(e[0], later)}, {succeeds(e[1])}}
			}, []results{{applied}, {applied}},
		},
		"another fails in the same session": {
			3, func(e []domain.OutboxEntry) [][]domain.Settlement {
				return [][]domain.Settlement{{succeeds(e[0]), fails(e[1], later), succeeds(e[2])}}
			}, []results{{applied, applied, applied}},
		},
		"another is abandoned": {
			2, func(e []domain.OutboxEntry) [][]domain.Settlement {
				return [][]domain.Settlement{{abandons(e[0])}, {succeeds(e[1])}}
			}, []results{{applied}, {applied}},
		},
		"another is given back": {
			2, func(e []domain.OutboxEntry) [][]domain.Settlement {
				return [][]domain.Settlement{{givesBack(e[0]), succeeds(e[1])}}
			}, []results{{applied, applied}},
		},
		"the last one only fails": {
			2, func(e []domain.OutboxEntry) [][]domain.Settlement {
				return [][]domain.Settlement{{succeeds(e[0])}, {fails(e[1], later)}}
			}, []results{{applied}, {applied}},
		},
		"it is settled again": {
			2, func(e []domain.OutboxEntry) [][]domain.Settlement {
				return [][]domain.Settlement{{succeeds(e[0])}, {succeeds(e[1])}, {succeeds(e[0])}, {succeeds(e[1])}}
			}, []results{{applied}, {completes}, {stale}, {stale}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				b := newBox(t, db)
				names := []string{"a", "b", "c"}[:c.entries]
				b.enqueue(t, toErase(t, "other", "2", 0), toRectify(t, "other operation", "1", 0))
				for _, name := range names {
					b.enqueue(t, toErase(t, name, "1", 0))
				}
				e := b.claimOf(t, noon, names...)
				for i, settlements := range c.settle(e) {
					if got := b.settle(t, settlements...); !slices.Equal(got, c.want[i]) {
						t.Errorf("session %d: got %v, want %v", i, got, c.want[i])
					}
				}
			})
		})
	}
}

// A batch of settlements may have more values than the database accepts as parameters of one statement: 65,535 on
// PostgreSQL, and 32,766 on SQLite. A settlement has five values.
func TestABatchOfAnySizeIsSettled(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		many := 14_000
		if db.Dialect().Name() == dialect.SQLite {
			many = 7_000
		}
		b.fill(t, many, domain.OutboxPending)
		claimed := b.claim(t, noon, upTo(many)...)
		settlements := make([]domain.Settlement, len(claimed))
		for i, entry := range claimed {
			settlements[i] = succeeds(entry)
		}
		for i, result := range b.settle(t, settlements...) {
			if result != (domain.SettleResult{Completes: true}) {
				t.Fatalf("settlement %d is %+v", i, result)
			}
		}
		if counts := b.counts(t); counts[domain.OutboxSucceeded] != int64(many) {
			t.Errorf("counted are %v", counts)
		}
	})
}
