package memory

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Options configures a Store. The zero value is ready for use.
type Options struct {
	// Enqueued is called after each commit that has added entries to the outbox, for example to wake a worker. It must not
	// block. nil means no call.
	Enqueued func()

	// Observer receives the duration and the outcome of each session. nil means no observer.
	Observer ports.Observer
}

// Store holds data in memory and opens sessions on it. It is safe for concurrent use.
type Store struct {
	dataMap   domain.DataMap
	wake      func()                // Options.Enqueued
	observer  ports.Observer        // or nil
	writing   chan struct{}         // the write lock; a session holds it while the channel is full
	committed atomic.Pointer[state] // replaced only under the write lock
}

var _ ports.Prober = (*Store)(nil)

// New returns an empty store. The data map describes the tables of the application. New returns domain.ErrConfiguration
// if the data map is empty. It returns domain.ErrManifest if a surrogate constant (a constant that overwrites an erased
// value) does not fit its column.
func New(dataMap domain.DataMap, opts Options) (*Store, error) {
	if dataMap.IsZero() {
		return nil, domain.Misconfigured("memory", "the data map is empty")
	}
	if err := checkConstants(dataMap); err != nil {
		return nil, err
	}
	store := &Store{dataMap: dataMap, wake: opts.Enqueued, observer: opts.Observer, writing: make(chan struct{}, 1)}
	store.committed.Store(&state{dataMap: dataMap})
	return store, nil
}

// Erased returns the time of the last committed erasure of the subject and the number of its erasures. Without an
// erasure, both are zero.
func (s *Store) Erased(id domain.SubjectID) (last time.Time, times int) {
	mark := s.committed.Load().erasures[id]
	return mark.ErasedAt, int(mark.Erasures)
}

// Entries returns copies of all committed outbox entries, oldest first. It includes entries that succeeded, which no
// port returns.
func (s *Store) Entries() []domain.OutboxEntry {
	state := s.committed.Load()
	entries := make([]domain.OutboxEntry, 0, len(state.entries))
	for _, i := range state.oldest(func(domain.OutboxEntry) bool { return true }) {
		entries = append(entries, cloneEntry(state.entries[i]))
	}
	return entries
}

// Probe implements ports.Prober. Memory is always reachable, so Probe fails only if the context has ended.
func (s *Store) Probe(ctx context.Context) error {
	if ctx.Err() != nil {
		return endedBy(ctx)
	}
	return nil
}

// lock takes the write lock. It returns an error if ctx ends before the lock is free.
func (s *Store) lock(ctx context.Context) error {
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return endedBy(ctx)
	}
}

func (s *Store) unlock() { <-s.writing }

// endedBy returns the error of an operation whose context has ended. The error wraps context.Canceled or
// context.DeadlineExceeded.
func endedBy(ctx context.Context) error {
	return &domain.Error{Op: "session", Message: "ended by its context", Err: ctx.Err()}
}
