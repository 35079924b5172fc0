package bunstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/habeas-data/habeas/domain"
)

// journal is what a combiner has run, each run until it is let go.
type journal struct {
	combiner[string]
	mu       sync.Mutex
	ran      [][]string
	contexts []context.Context
	release  chan error
	kept     []string
}

func newJournal() *journal {
	j := &journal{release: make(chan error)}
	j.combiner = combiner[string]{
		run: func(ctx context.Context, items ...string) error {
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
		keep: func(item string) error {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.kept = append(j.kept, item)
			return nil
		},
		undone: func(err error) bool { return errors.Is(err, errRefused) },
	}
	return j
}

var errRefused, errLost = errors.New("refused"), errors.New("lost")

// start has items run, one after the other, and returns where their errors will be.
func (j *journal) start(ctx context.Context, items ...string) map[string]chan error {
	results := map[string]chan error{}
	for _, item := range items {
		result := make(chan error, 1)
		results[item] = result
		go func() { result <- j.do(ctx, item) }()
		synctest.Wait()
	}
	return results
}

// end lets a run end, and returns how many there have been.
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

func TestWhatComesTogetherRunsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		results := j.start(t.Context(), "a", "b", "c", "d", "e")
		j.expect(t, []string{"a"}, []string{"b"}) // the others are not part of what is on its way
		j.end(nil)
		j.expect(t, []string{"a"}, []string{"b"}, []string{"c", "d", "e"})
		if !slices.Equal(j.kept, []string{"c", "d", "e"}) {
			t.Errorf("%q were made fit to wait", j.kept)
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

func TestNotEverythingThatWaitsGoesIntoOneStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		var items []string
		for i := range mostRunning + mostTogether + 3 {
			items = append(items, fmt.Sprint(i))
		}
		j.start(t.Context(), items...)
		j.end(nil)
		j.end(nil)
		waited := items[mostRunning:]
		j.expect(t, []string{"0"}, []string{"1"}, waited[:mostTogether], waited[mostTogether:])
		j.end(nil)
		j.end(nil)
	})
}

func TestWhoHasGoneIsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.start(t.Context(), "a", "b")
		short, cancel := context.WithCancel(t.Context())
		gone := j.start(short, "c")
		waits := j.start(t.Context(), "d")
		cancel()
		if err := <-gone["c"]; !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone was told %v", err)
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

func TestAStatementGoesOnForThoseWhoAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.start(t.Context(), "a", "b")
		first, cancel := context.WithCancel(t.Context())
		gone := j.start(first, "c")
		left := j.start(t.Context(), "d")
		j.end(nil)
		cancel()
		if err := <-gone["c"]; !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone was told %v", err)
		}
		synctest.Wait()
		j.end(nil)
		j.end(nil)
		j.expect(t, []string{"a"}, []string{"b"}, []string{"c", "d"})
		if err := <-left["d"]; err != nil {
			t.Errorf("who was left was told %v", err)
		}
	})
}

func TestAStatementForNobodyElseEndsWithItsCaller(t *testing.T) {
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

func TestAStatementLastsAsLongAsAnybodyMayWait(t *testing.T) {
	type key struct{}
	for _, test := range []struct {
		name    string
		seconds []int // of each item's context; 0 for no end
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

func TestAnItemFailsForReasonsOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.start(t.Context(), "a", "b")
		results := j.start(t.Context(), "c", "d")
		j.end(nil)
		j.end(nil)
		j.end(errRefused) // of both together
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

func TestWhatMayHaveBeenDoneIsNotRunAgain(t *testing.T) {
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

// A query hook of an application may panic. That reaches the goroutine of each caller, and none of its own that nobody
// could recover in; and it takes no place away.
func TestAPanicReachesTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		blocks := j.run
		j.run = func(ctx context.Context, items ...string) error {
			if items[0] == "hooked" {
				panic("a hook")
			}
			return blocks(ctx, items...)
		}
		panics := make(chan any)
		hooked := func() {
			defer func() { panics <- recover() }()
			_ = j.do(t.Context(), "hooked")
		}
		for range 2 * mostRunning {
			go hooked()
			if <-panics != "a hook" {
				t.Error("a caller has not heard of it")
			}
		}
		j.start(t.Context(), "a", "b")
		go hooked()
		go hooked()
		synctest.Wait()
		j.end(nil)
		for range 2 {
			if <-panics != "a hook" {
				t.Error("a caller that waited has not heard of it")
			}
		}
		j.end(nil)
		results := j.start(t.Context(), "x", "y")
		j.end(nil)
		j.end(nil)
		j.expect(t, []string{"a"}, []string{"b"}, []string{"x"}, []string{"y"})
		if err := errors.Join(<-results["x"], <-results["y"]); err != nil {
			t.Error(err)
		}
	})
}

func TestAnItemThatCannotWaitFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.keep = func(string) error { return errRefused }
		j.start(t.Context(), "a", "b")
		if err := <-j.start(t.Context(), "c")["c"]; !errors.Is(err, errRefused) {
			t.Errorf("got %v", err)
		}
		j.end(nil)
		j.end(nil)
	})
}

// What waits outlives a caller who gives up, and whose texts may lie in memory that is used again.
func TestTextsThatWaitAreCopied(t *testing.T) {
	memory := []byte("news")
	text := unsafe.String(&memory[0], len(memory))
	id, err := domain.NewSubjectID(text)
	if err != nil {
		t.Fatal(err)
	}
	var held appends
	held[consents] = [][]any{{text, true}}
	q := &question{subject: id, purpose: text}
	if err := errors.Join(held.keep(), q.keep()); err != nil {
		t.Fatal(err)
	}
	copy(memory, "xxxx")
	if held[consents][0][0] != "news" || q.pair != `["news","news"]` {
		t.Errorf("it became %v and %s", held[consents][0], q.pair)
	}
}

func TestWhatTheDatabaseRefusedIsKnown(t *testing.T) {
	for state, want := range map[string]bool{
		"23505": true, "22P05": true, "40001": true, "40P01": true, "53200": true,
		"08006": false, "08P01": false, "57P01": false, "57P02": false, "": false,
	} {
		if got := refused(fmt.Errorf("wrapped: %w", stateError(state))); got != want {
			t.Errorf("%q: %v", state, got)
		}
	}
}

// stateError is a driver's error with an SQLSTATE.
type stateError string

func (e stateError) Error() string    { return "an error of the database" }
func (e stateError) SQLState() string { return string(e) }
