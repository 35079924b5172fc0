package detach_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/internal/detach"
)

type key struct{}

// otherKey is the key of a value in a context that is derived from the detached context.
type otherKey struct{}

// request is a context that a framework reuses. No lock guards its fields, so the race detector finds each use during
// or after the reuse.
type request struct {
	calls    int
	value    any
	deadline time.Time
	done     chan struct{}
	err      error
	gone     atomic.Bool
	misused  atomic.Bool
}

func (r *request) touch() {
	if r.gone.Load() {
		r.misused.Store(true)
	}
}
func (r *request) Deadline() (time.Time, bool) { r.touch(); return r.deadline, !r.deadline.IsZero() }
func (r *request) Done() <-chan struct{}       { r.touch(); return r.done }
func (r *request) Err() error                  { r.touch(); return r.err }
func (r *request) Value(any) any               { r.touch(); return r.value }

// reuse changes the fields of the request, as a framework does after the handler has returned.
func (r *request) reuse() {
	r.gone.Store(true)
	r.calls++
	r.value, r.deadline, r.done, r.err = "of another request", time.Time{}, make(chan struct{}), errors.New("other")
}

func (r *request) check(t *testing.T) {
	t.Helper()
	if r.misused.Load() {
		t.Error("the parent was used after release")
	}
}

func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

func TestTheParentIsUsedUntilRelease(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	parent := &request{value: "mine", deadline: at, done: make(chan struct{})}
	ctx, release := detach.New(parent)
	if got, ok := ctx.Deadline(); !ok || !got.Equal(at) {
		t.Errorf("Deadline = %v, %v", got, ok)
	}
	if ctx.Value(key{}) != "mine" || ctx.Err() != nil || ended(ctx) {
		t.Errorf("Value = %v, Err = %v, ended %v", ctx.Value(key{}), ctx.Err(), ended(ctx))
	}
	release()
	parent.reuse()
	release()
	if got, ok := ctx.Deadline(); !ok || !got.Equal(at) {
		t.Errorf("after release, Deadline = %v, %v", got, ok)
	}
	if ctx.Value(key{}) != nil || !errors.Is(ctx.Err(), context.Canceled) || !ended(ctx) {
		t.Errorf("after release, Value = %v, Err = %v, ended %v", ctx.Value(key{}), ctx.Err(), ended(ctx))
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		t.Errorf("after release, the cause is %v", cause)
	}
	parent.check(t)
}

func TestAContextWithoutDoneOrDeadlineCanBeDetached(t *testing.T) {
	ctx, release := detach.New(context.WithValue(context.Background(), key{}, 1))
	if _, ok := ctx.Deadline(); ok || ctx.Done() == nil || ctx.Err() != nil || ctx.Value(key{}) != 1 {
		t.Error("the context differs from its parent")
	}
	release()
	if !ended(ctx) || ctx.Value(key{}) != nil {
		t.Error("release did not end it")
	}
}

func TestTheEndOfTheParentEndsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("cause")
		parent, cancel := context.WithCancelCause(context.Background())
		ctx, release := detach.New(parent)
		defer release()
		cancel(cause)
		<-ctx.Done()
		if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), cause) {
			t.Errorf("Err = %v, cause %v", ctx.Err(), context.Cause(ctx))
		}
		release()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("Err = %v", ctx.Err())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		ctx, release := detach.New(parent)
		<-ctx.Done()
		release()
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("Err = %v", ctx.Err())
		}
	})
	over, cancel := context.WithCancel(context.Background())
	cancel()
	ctx, release := detach.New(over)
	defer release()
	if !ended(ctx) || !errors.Is(ctx.Err(), context.Canceled) {
		t.Error("the context has not ended with its parent")
	}
	odd := &request{done: make(chan struct{})} // its Done is closed, but its Err returns nil
	close(odd.done)
	ctx, release = detach.New(odd)
	defer release()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("Err = %v", ctx.Err())
	}
}

func TestContextsMadeFromItEndWithRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		standard, cancelParent := context.WithCancel(context.Background())
		defer cancelParent()
		for name, parent := range map[string]context.Context{
			"of the standard library": context.WithValue(standard, key{}, "mine"),
			"of a framework":          &request{value: "mine", done: make(chan struct{})},
		} {
			ctx, release := detach.New(parent)
			timed, cancel := context.WithTimeout(ctx, time.Hour)
			inner, cancelInner := context.WithCancel(context.WithValue(timed, otherKey{}, 1))
			after := make(chan struct{})
			context.AfterFunc(inner, func() { close(after) })
			if inner.Value(key{}) != "mine" || inner.Err() != nil {
				t.Errorf("%s: Value = %v, Err = %v", name, inner.Value(key{}), inner.Err())
			}
			release()
			<-after
			if inner.Value(key{}) != nil || !errors.Is(inner.Err(), context.Canceled) ||
				!errors.Is(context.Cause(inner), context.Canceled) {
				t.Errorf("%s: Value = %v, Err = %v, cause %v", name, inner.Value(key{}), inner.Err(), context.Cause(inner))
			}
			cancelInner()
			cancel()
		}
		if standard.Err() != nil {
			t.Error("release cancelled the parent")
		}
	})
}

// Goroutines use the context and derived contexts concurrently. The race detector reports a failure if release returns
// while a goroutine still uses the parent.
func TestNothingTouchesTheParentAfterRelease(t *testing.T) {
	for round := range 40 {
		parent := &request{value: "mine", deadline: time.Unix(1<<40, 0), done: make(chan struct{})}
		ctx, release := detach.New(parent)
		var workers sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			workers.Go(func() {
				for {
					child, cancel := context.WithTimeout(ctx, time.Hour)
					_ = context.Cause(child)
					_ = child.Value(key{})
					_, _ = child.Deadline()
					_ = fmt.Sprintf("%v %+v %s", child, ctx, ctx)
					cancel()
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		if round%2 == 0 { // the parent ends concurrently
			parent.err = context.Canceled
			close(parent.done)
		}
		var releases sync.WaitGroup
		for range 2 {
			releases.Go(release)
		}
		releases.Wait()
		parent.reuse()
		_ = fmt.Sprintf("%v", ctx)
		close(stop)
		workers.Wait()
		parent.check(t)
	}
}

// blocking is a parent whose method Value blocks until the test closes leave.
type blocking struct {
	context.Context
	entered, leave chan struct{}
	over           bool
}

func (b *blocking) Value(any) any {
	close(b.entered)
	<-b.leave
	b.over = true
	return 1
}

func TestReleaseWaitsForACallOfTheParent(t *testing.T) {
	parent := &blocking{Context: context.Background(), entered: make(chan struct{}), leave: make(chan struct{})}
	ctx, release := detach.New(parent)
	go ctx.Value(key{})
	<-parent.entered
	go close(parent.leave)
	release()
	if !parent.over { // without the wait, this is also a data race
		t.Error("release returned while the parent was in use")
	}
}

type panicking struct{ context.Context }

func (panicking) Value(any) any { panic("value") }

func TestAParentThatPanicsDoesNotKeepReleaseWaiting(t *testing.T) {
	ctx, release := detach.New(panicking{context.Background()})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		ctx.Value(key{})
	}()
	release()
	if ctx.Value(key{}) != nil {
		t.Error("a value is left")
	}
}

func TestADetachedContextCanBeDetached(t *testing.T) {
	outer, releaseOuter := detach.New(context.WithValue(context.Background(), key{}, 1))
	inner, releaseInner := detach.New(outer)
	defer releaseInner()
	if inner.Value(key{}) != 1 {
		t.Error("the value is lost")
	}
	releaseOuter()
	<-inner.Done()
	if inner.Value(key{}) != nil || !errors.Is(inner.Err(), context.Canceled) {
		t.Errorf("Value = %v, Err = %v", inner.Value(key{}), inner.Err())
	}
}
