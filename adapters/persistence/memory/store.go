package memory

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Options change what New does by default. The zero value is ready for use.
type Options struct {
	// Enqueued is called after a commit that gave the outbox new work, so that a worker can be woken at once. It must
	// return at once. The default is nothing.
	Enqueued func()

	// Observer is told of each session: its duration and its outcome. The default is none.
	Observer ports.Observer
}

// Store opens sessions on what it holds in memory. It is safe for concurrent use.
type Store struct {
	dataMap   domain.DataMap
	wake      func()                // Options.Enqueued
	observer  ports.Observer        // or nil
	writing   chan struct{}         // the write lock: full while a session has it
	committed atomic.Pointer[state] // replaced under the write lock only
}

var _ ports.Prober = (*Store)(nil)

// New returns an empty store for the application's tables that the data map describes. An empty data map is
// domain.ErrConfiguration; a constant to anonymize with that does not fit its column is domain.ErrManifest.
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

// Erased returns the mark that erasures of the subject left: the instant of the last one and how many there were.
func (s *Store) Erased(id domain.SubjectID) (last time.Time, times int) {
	mark := s.committed.Load().erasures[id]
	return mark.ErasedAt, int(mark.Erasures)
}

// Entries returns copies of all entries of the outbox as they are committed, oldest first: those that succeeded, too,
// which no port shows.
func (s *Store) Entries() []domain.OutboxEntry {
	state := s.committed.Load()
	entries := make([]domain.OutboxEntry, 0, len(state.entries))
	for _, i := range state.oldest(func(domain.OutboxEntry) bool { return true }) {
		entries = append(entries, cloneEntry(state.entries[i]))
	}
	return entries
}

// Probe implements ports.Prober: what is in memory can always be reached.
func (s *Store) Probe(ctx context.Context) error {
	if ctx.Err() != nil {
		return endedBy(ctx)
	}
	return nil
}

// lock takes the write lock, or gives up when the context ends.
func (s *Store) lock(ctx context.Context) error {
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return endedBy(ctx)
	}
}

func (s *Store) unlock() { <-s.writing }

// endedBy is the error of what a context has ended. It is context.Canceled or context.DeadlineExceeded.
func endedBy(ctx context.Context) error {
	return &domain.Error{Op: "session", Message: "ended by its context", Err: ctx.Err()}
}
