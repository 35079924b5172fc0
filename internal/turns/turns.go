// Package turns makes callers with the same key wait for each other.
package turns

import (
	"context"
	"sync"
)

// Turns admits one caller for each key at a time, in FIFO order. The zero value is ready for use. Turns is safe for
// concurrent use.
type Turns struct {
	mu     sync.Mutex
	places map[string]*place // has the keys for which a caller has entered or waits
}

type place struct {
	taken   chan struct{} // has one element while a caller has entered
	callers int           // have entered or wait
}

// Enter waits until no other caller has entered for the key, and returns the function that leaves. It returns the error
// of the context if the context ends first. A caller must not wait for a second key.
func (t *Turns) Enter(ctx context.Context, key string) (leave func(), err error) {
	t.mu.Lock()
	one := t.places[key]
	if one == nil {
		one = &place{taken: make(chan struct{}, 1)}
		if t.places == nil {
			t.places = map[string]*place{}
		}
		t.places[key] = one
	}
	one.callers++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.callers--; one.callers == 0 {
			delete(t.places, key)
		}
	}
	select {
	case one.taken <- struct{}{}: // a free place is taken even if the context has ended
	default:
		select {
		case one.taken <- struct{}{}:
		case <-ctx.Done():
			forget()
			return nil, ctx.Err()
		}
	}
	return func() {
		<-one.taken
		forget()
	}, nil
}

// Keys returns the number of keys for which a caller has entered or waits.
func (t *Turns) Keys() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.places)
}
