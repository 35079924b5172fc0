package worker

import (
	"context"
	"sync"
)

// begun records whether Options.Begin has succeeded since the last Start.
type begun struct {
	mu   sync.Mutex
	done bool
}

func (b *begun) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = false
}

// wait calls begin until it has succeeded once. One goroutine calls begin, and the others wait for it.
func (b *begun) wait(ctx context.Context, begin func(context.Context) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done || begin == nil {
		return nil
	}
	err := begin(ctx)
	b.done = err == nil
	return err
}
