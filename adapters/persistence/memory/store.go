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
	// Enqueued is called after a commit that added work to the outbox, for example to wake a worker. It must not block.
	// nil means no call.
	Enqueued func()

	// Observer is notified of the duration and the outcome of each session. nil means no notifications.
	Observer ports.Observer
}

// Store holds data in memory and opens sessions on it. It is safe for concurrent use.
type Store struct {
	dataMap   domain.DataMap
	wake      func()                // Options.Enqueued
	observer  ports.Observer        // or nil
	writing   chan struct{}         // the write lock: full while a session holds it
	committed atomic.Pointer[state] // replaced only under the write lock
}

var _ ports.Prober = (*Store)(nil)

// New returns an empty store for the tables of the application that the data map describes. It returns
// domain.ErrConfiguration if the data map is empty. It returns domain.ErrManifest if a constant surrogate does not fit
// its column.
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

// Erased returns the mark that erasures of the subject left: the instant of the last erasure and the number of
// erasures.
func (s *Store) Erased(id domain.SubjectID) (last time.Time, times int) {
	mark := s.committed.Load().erasures[id]
	return mark.ErasedAt, int(mark.Erasures)
}

// Entries returns copies of all committed entries of the outbox, oldest first. It includes entries that succeeded,
// which no port shows.
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

// lock takes the write lock. It returns an error if the context ends first.
func (s *Store) lock(ctx context.Context) error {
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return endedBy(ctx)
	}
}

func (s *Store) unlock() { <-s.writing }

// endedBy returns the error of an operation that a context has ended. It wraps context.Canceled or
// context.DeadlineExceeded.
func endedBy(ctx context.Context) error {
	return &domain.Error{Op: "session", Message: "ended by its context", Err: ctx.Err()}
}
