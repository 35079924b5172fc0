package bunstore

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
)

// notifyTimeout is the timeout of a notification. If a notification is lost, workers find the outbox entries at their
// next poll.
const notifyTimeout = 5 * time.Second

// announce notifies workers of new outbox entries after a commit: first the worker in this process, then the workers in
// other processes.
func (s *Store) announce(ctx context.Context) {
	if s.wake != nil {
		s.wake()
	}
	text := s.outbox.Notification
	if text == "" {
		return
	}
	s.others.Request(func() {
		defer func() { _ = recover() }() // a query hook of the application may panic, and must not end the process
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
		defer cancel()
		_ = s.pool.Notify(ctx, text) // after an error, workers find the entries by polling
	})
}

// announceInside sends the notification of new outbox entries inside the transaction of the application. PostgreSQL
// delivers the notification when the application commits.
func (s *session) announceInside(ctx context.Context) error {
	text := s.store.outbox.Notification
	if !s.outbox.Enqueued || text == "" {
		return nil
	}
	return s.db.Read(ctx, "notify", conn.Ignore, text)
}
