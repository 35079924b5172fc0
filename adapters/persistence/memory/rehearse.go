package memory

import (
	"context"

	"github.com/habeas-data/habeas/ports"
)

// Rehearse implements ports.SessionFactory. It runs fn in a session that is never committed.
func (s *Store) Rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	ctx, err := s.enter(ctx)
	if err != nil {
		return err
	}
	session := &session{store: s, rehearsal: true}
	defer session.end()
	if err := fn(ports.WithRehearsal(ctx), session); err != nil {
		return err
	}
	return session.prepare(ctx)
}
