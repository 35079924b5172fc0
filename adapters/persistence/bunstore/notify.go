package bunstore

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

const (
	// notifyTimeout bounds how long a notification may take. One that is lost costs no more than a poll interval.
	notifyTimeout = 5 * time.Second
	// notifyInterval is how long after a notification the next one is sent at the earliest.
	notifyInterval = 10 * time.Millisecond
)

// notifier notifies the workers of other processes of new work in the outbox. It does so after the commit, and once for
// all commits that follow each other shortly: a notification is a transaction of its own, and PostgreSQL commits
// transactions that notify one by one.
type notifier struct {
	mu    sync.Mutex
	busy  bool
	again bool
}

// request has notify called soon, in a goroutine that ends when there is nothing more to tell.
func (n *notifier) request(notify func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.again = true
	if n.busy {
		return
	}
	n.busy = true
	go func() {
		for n.next() {
			notify()
			time.Sleep(notifyInterval)
		}
	}()
}

func (n *notifier) next() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy, n.again = n.again, false
	return n.busy
}

// announce tells of new work after a commit: the worker in this process, then those in others.
func (s *Store) announce(ctx context.Context) {
	if s.wake != nil {
		s.wake()
	}
	text := s.dialect.notification()
	if text == "" {
		return
	}
	s.others.request(func() {
		defer func() { _ = recover() }() // a query hook of the application may panic, and must not end the process
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
		defer cancel()
		_ = query(ctx, s.db, s.db.DB, ignore, text) // it is found by polling, then
	})
}

// announceInside tells of new work with the commit of the host's transaction, which is not for this package to see.
func (s *session) announceInside(ctx context.Context) error {
	text := s.store.dialect.notification()
	if !s.enqueued || text == "" {
		return nil
	}
	return s.read(ctx, "notify", ignore, text)
}

func ignore(*sql.Rows) error { return nil }
