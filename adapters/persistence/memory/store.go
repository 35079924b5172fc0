package memory

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Options configures a Store. The zero value is ready for use.
type Options struct {
	// Name distinguishes several data maps on one memory, see Beside. It has 1 to 20 of the characters a to z and 0 to 9.
	// The default is "".
	Name string

	// Beside is another store, whose memory the new store shares: the two stores have the same tables of the application.
	// If their names differ, they have their own ledgers, outbox, marks and audit trails. If their names are equal, they
	// share these, too, as two processes that use one database. nil means a new memory.
	Beside *Store

	// Enqueued is called after each commit that has added entries to the outbox, for example to wake a worker. It must not
	// block. nil means no call.
	Enqueued func()

	// Observer receives the duration and the outcome of each session. nil means no observer.
	Observer ports.Observer
}

// Store holds data in memory and opens sessions on it. It is safe for concurrent use.
type Store struct {
	*shared
	name     string // Options.Name
	dataMap  datamap.DataMap
	wake     func()         // Options.Enqueued
	observer ports.Observer // or nil
}

// shared is the memory that several stores may use.
type shared struct {
	writing   chan struct{}                     // the write lock; a session holds it while the channel is full
	committed atomic.Pointer[map[string]*state] // the state of each store, by name; replaced only under the write lock
}

// newest returns a copy of the newest committed state of the store, with the data map of this store.
func (s *Store) newest() *state {
	newest := *(*s.committed.Load())[s.name]
	newest.dataMap = s.dataMap
	return &newest
}

// publish makes a state the newest committed state of the store. The stores beside it get the tables of the
// application. The caller holds the write lock.
func (s *Store) publish(newest *state) {
	all := map[string]*state{}
	for name, other := range *s.committed.Load() {
		beside := *other
		beside.rows = newest.rows
		all[name] = &beside
	}
	all[s.name] = newest
	s.committed.Store(&all)
}

var _ ports.SessionFactory = (*Store)(nil)

// New returns an empty store. The data map describes the tables of the application. New returns domain.ErrConfiguration
// if the data map is empty. It returns domain.ErrManifest if a surrogate constant does not fit its column.
func New(dataMap datamap.DataMap, opts Options) (*Store, error) {
	if dataMap.IsZero() {
		return nil, domain.Misconfigured("memory", "the data map is empty")
	}
	if err := checkConstants(dataMap); err != nil {
		return nil, err
	}
	if err := datamap.CheckMapName("memory", opts.Name); err != nil {
		return nil, err
	}
	store := &Store{name: opts.Name, dataMap: dataMap, wake: opts.Enqueued, observer: opts.Observer}
	empty := &state{name: opts.Name, dataMap: dataMap, installation: datamap.Installation{ID: rand.Text()}}
	if opts.Beside == nil {
		store.shared = &shared{writing: make(chan struct{}, 1)}
		store.committed.Store(&map[string]*state{opts.Name: empty})
		return store, nil
	}
	store.shared = opts.Beside.shared
	store.writing <- struct{}{}
	defer store.unlock()
	if (*store.committed.Load())[store.name] != nil {
		return store, nil
	}
	empty.rows = opts.Beside.newest().rows
	store.publish(empty)
	return store, nil
}

// Erased returns the time of the last committed erasure of the subject and the number of its erasures. Without an
// erasure, both are zero.
func (s *Store) Erased(id domain.SubjectID) (last time.Time, times int) {
	mark := s.newest().erasures[id]
	return mark.ErasedAt, int(mark.Erasures)
}

// Entries returns copies of all committed outbox entries, oldest first. It includes entries that succeeded, which no
// port returns.
func (s *Store) Entries() []domain.OutboxEntry {
	state := s.newest()
	entries := make([]domain.OutboxEntry, 0, len(state.entries))
	for _, i := range state.oldest(func(domain.OutboxEntry) bool { return true }) {
		entries = append(entries, cloneEntry(state.entries[i]))
	}
	return entries
}

// Probe implements ports.SessionFactory. Memory is always reachable, so Probe fails only if the context has ended.
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
