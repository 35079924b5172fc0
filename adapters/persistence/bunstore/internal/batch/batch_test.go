package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// journal is a Batcher that records its batches and blocks each batch until the test calls end.
type journal struct {
	Batcher[string]
	mu       sync.Mutex
	ran      [][]string
	contexts []context.Context
	release  chan error
	kept     []string
}

func newJournal() *journal {
	j := &journal{release: make(chan error)}
	j.Batcher = Batcher[string]{
		Run: func(ctx context.Context, items ...string) error {
			j.mu.Lock()
			j.ran, j.contexts = append(j.ran, items), append(j.contexts, ctx)
			j.mu.Unlock()
			select {
			case err := <-j.release:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		Keep: func(item string) error {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.kept = append(j.kept, item)
			return nil
		},
		RetryAlone: func(err error) bool { return errors.Is(err, errRefused) },
	}
	return j
}

var errRefused, errLost = errors.New("refused"), errors.New("lost")

// start calls Do for each item in a separate goroutine, in the order of items. It returns a channel for the error of
// each item.
func (j *journal) start(ctx context.Context, items ...string) map[string]chan error {
	results := map[string]chan error{}
	for _, item := range items {
		result := make(chan error, 1)
		results[item] = result
		go func() { result <- j.Do(ctx, item) }()
		synctest.Wait()
	}
	return results
}

// end makes one running batch return err, and returns the number of batches that were started so far.
func (j *journal) end(err error) int {
	j.release <- err
	synctest.Wait()
	return len(j.ran)
}

func (j *journal) expect(t *testing.T, want ...[]string) {
	t.Helper()
	if !slices.EqualFunc(j.ran, want, slices.Equal) {
		t.Fatalf("ran %q, want %q", j.ran, want)
	}
}

func TestConcurrentItemsShareABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		results := j.start(t.Context(), "a", "b", "c", "d", "e")
		j.expect(t, []string{"a"}, []string{"b"}) // the others do not join a batch in flight
		j.end(nil)
		j.expect(t, []string{"a"}, []string{"b"}, []string{"c", "d", "e"})
		if !slices.Equal(j.kept, []string{"c", "d", "e"}) {
			t.Errorf("Keep was called for %q", j.kept)
		}
		late := j.start(t.Context(), "f")
		j.end(nil)
		j.end(nil)
		j.expect(t, []string{"a"}, []string{"b"}, []string{"c", "d", "e"}, []string{"f"})
		j.end(nil)
		results["f"] = late["f"]
		for item, result := range results {
			if err := <-result; err != nil {
				t.Errorf("%s: %v", item, err)
			}
		}
		again := j.start(t.Context(), "g", "h")
		j.end(nil)
		j.end(nil)
		if err := errors.Join(<-again["g"], <-again["h"]); err != nil || len(j.ran) != 6 {
			t.Errorf("%v, and ran %q", err, j.ran)
		}
	})
}

func TestABatchHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		var items []string
		for i := range maxInFlight + maxBatch + 3 {
			items = append(items, fmt.Sprint(i))
		}
		j.start(t.Context(), items...)
		j.end(nil)
		j.end(nil)
		waited := items[maxInFlight:]
		j.expect(t, []string{"0"}, []string{"1"}, waited[:maxBatch], waited[maxBatch:])
		j.end(nil)
		j.end(nil)
	})
}

func TestACanceledItemIsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.start(t.Context(), "a", "b")
		short, cancel := context.WithCancel(t.Context())
		gone := j.start(short, "c")
		waits := j.start(t.Context(), "d")
		cancel()
		if err := <-gone["c"]; !errors.Is(err, context.Canceled) {
			t.Errorf("the canceled caller got %v", err)
		}
		j.end(nil)
		j.end(nil)
		j.expect(t, []string{"a"}, []string{"b"}, []string{"d"})
		j.end(nil)
		if err := <-waits["d"]; err != nil {
			t.Error(err)
		}
	})
}

func TestABatchContinuesForItsOtherCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.start(t.Context(), "a", "b")
		first, cancel := context.WithCancel(t.Context())
		gone := j.start(first, "c")
		left := j.start(t.Context(), "d")
		j.end(nil)
		cancel()
		if err := <-gone["c"]; !errors.Is(err, context.Canceled) {
			t.Errorf("the canceled caller got %v", err)
		}
		synctest.Wait()
		j.end(nil)
		j.end(nil)
		j.expect(t, []string{"a"}, []string{"b"}, []string{"c", "d"})
		if err := <-left["d"]; err != nil {
			t.Errorf("the remaining caller got %v", err)
		}
	})
}

func TestABatchOfOneItemEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.start(t.Context(), "a", "b")
		ctx, cancel := context.WithCancel(t.Context())
		gone := j.start(ctx, "c")
		j.end(nil)
		cancel()
		synctest.Wait()
		if err := j.contexts[2].Err(); !errors.Is(err, context.Canceled) || !errors.Is(<-gone["c"], context.Canceled) {
			t.Errorf("its context has ended with %v", err)
		}
		j.end(nil)
	})
}

func TestABatchHasTheLatestDeadlineOfItsCallers(t *testing.T) {
	type key struct{}
	for _, test := range []struct {
		name    string
		seconds []int // the timeout of each item's context; 0 for no deadline
		want    int
	}{
		{"the only one's", []int{5}, 5},
		{"the longest", []int{5, 9, 7}, 9},
		{"without end", []int{5, 0, 7}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, start := newJournal(), time.Now()
				j.start(t.Context(), "a", "b")
				for i, seconds := range test.seconds {
					ctx := context.WithValue(t.Context(), key{}, i)
					if seconds > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
						defer cancel()
					}
					j.start(ctx, fmt.Sprint(i))
				}
				j.end(nil)
				shared := j.contexts[2]
				deadline, limited := shared.Deadline()
				if limited != (test.want > 0) || limited && deadline.Sub(start) != time.Duration(test.want)*time.Second {
					t.Errorf("it lasts until %v", deadline.Sub(start))
				}
				if shared.Value(key{}) != 0 {
					t.Error("the values of the first context are not there")
				}
				j.end(nil)
				j.end(nil)
			})
		})
	}
}

func TestARefusedBatchRunsItsItemsOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.start(t.Context(), "a", "b")
		results := j.start(t.Context(), "c", "d")
		j.end(nil)
		j.end(nil)
		j.end(errRefused) // for the whole batch
		if len(j.ran) != 5 || len(j.ran[3]) != 1 || len(j.ran[4]) != 1 {
			t.Fatalf("ran %q", j.ran)
		}
		j.end(nil)
		j.end(errRefused)
		one, other := <-results["c"], <-results["d"]
		if (one == nil) == (other == nil) || !errors.Is(errors.Join(one, other), errRefused) {
			t.Errorf("got %v and %v", one, other)
		}
	})
}

func TestABatchWithAnUnknownEffectIsNotRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.start(t.Context(), "a", "b")
		results := j.start(t.Context(), "c", "d")
		j.end(nil)
		j.end(nil)
		j.end(errLost)
		for item, result := range results {
			if err := <-result; !errors.Is(err, errLost) {
				t.Errorf("%s: %v", item, err)
			}
		}
		j.expect(t, []string{"a"}, []string{"b"}, []string{"c", "d"})
	})
}

// A query hook of the application may panic before or after the statement. Each caller must then panic, no item may run
// again, and the number of batches in flight must stay correct.
func TestAPanicReachesTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		blocks := j.Run
		j.Run = func(ctx context.Context, items ...string) error {
			err := blocks(ctx, items...)
			if items[0] == "hooked" {
				panic("a hook")
			}
			return err
		}
		panics := make(chan any)
		hooked := func() {
			defer func() { panics <- recover() }()
			_ = j.Do(t.Context(), "hooked")
		}
		expect := func(callers int) {
			t.Helper()
			for range callers {
				if got := <-panics; got != "a hook" {
					t.Errorf("a caller got the panic %v", got)
				}
			}
		}
		for range 2 * maxInFlight {
			go hooked()
			synctest.Wait()
			j.end(nil)
			expect(1)
		}
		j.ran = nil
		j.start(t.Context(), "a", "b")
		go hooked()
		go hooked()
		synctest.Wait()
		j.end(nil)
		j.end(nil)
		j.end(nil)
		expect(2)
		j.start(t.Context(), "c", "d")
		j.expect(t, []string{"a"}, []string{"b"}, []string{"hooked", "hooked"}, []string{"c"}, []string{"d"})
		j.end(nil)
		j.end(nil)
	})
}

// A hook may end its goroutine with runtime.Goexit, for example t.FailNow in a test of the application. The callers of
// the batch must then get an error.
func TestABatchWithoutAResultFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		blocks := j.Run
		j.Run = func(ctx context.Context, items ...string) error {
			if items[0] == "ends" {
				runtime.Goexit()
			}
			return blocks(ctx, items...)
		}
		j.start(t.Context(), "a", "b")
		results := j.start(t.Context(), "ends")
		j.end(nil)
		if err := <-results["ends"]; err == nil {
			t.Error("it succeeded")
		}
		j.start(t.Context(), "c")
		j.expect(t, []string{"a"}, []string{"b"}, []string{"c"})
		j.end(nil)
		j.end(nil)
	})
}

func TestABatchEndsWithItsLastCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.start(t.Context(), "a", "b")
		ctx, cancel := context.WithCancel(t.Context())
		results := j.start(ctx, "c")
		limited, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		more := j.start(limited, "d")
		j.end(nil)
		cancel()
		if err := <-results["c"]; !errors.Is(err, context.Canceled) {
			t.Errorf("c: %v", err)
		}
		synctest.Wait()
		if err := j.contexts[2].Err(); err != nil {
			t.Errorf("the batch ended with one of its two callers: %v", err)
		}
		if err := <-more["d"]; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("d: %v", err)
		}
		synctest.Wait()
		if j.contexts[2].Err() == nil {
			t.Error("the batch continues without callers")
		}
		j.end(nil)
	})
}

func TestAnItemThatCannotWaitFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.Keep = func(string) error { return errRefused }
		j.start(t.Context(), "a", "b")
		if err := <-j.start(t.Context(), "c")["c"]; !errors.Is(err, errRefused) {
			t.Errorf("got %v", err)
		}
		j.end(nil)
		j.end(nil)
	})
}
