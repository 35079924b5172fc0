package bunstore

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
)

// notifyTimeout bounds how long a notification may take. One that is lost costs no more than a poll interval.
const notifyTimeout = 5 * time.Second

// announce tells of new work after a commit: the worker in this process, then those in others.
func (s *Store) announce(ctx context.Context) {
	if s.wake != nil {
		s.wake()
	}
	text := s.dialect.Notification()
	if text == "" {
		return
	}
	s.others.Request(func() {
		defer func() { _ = recover() }() // a query hook of the application may panic, and must not end the process
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
		defer cancel()
		_ = s.pool.Notify(ctx, text) // it is found by polling, then
	})
}

// announceInside tells of new work with the commit of the host's transaction, which is not for this package to see.
func (s *session) announceInside(ctx context.Context) error {
	text := s.store.dialect.Notification()
	if !s.enqueued || text == "" {
		return nil
	}
	return s.read(ctx, "notify", conn.Ignore, text)
}
