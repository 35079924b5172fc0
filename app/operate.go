package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Rehearse carries out an erasure and rolls it back: it returns what Erase would do, and leaves nothing. See
// erasure.Eraser.Rehearse. Returns domain.ErrConfiguration if the session factory in force does not implement
// ports.Rehearser.
func (i *Integration) Rehearse(ctx context.Context, subject domain.Subject) (domain.Rehearsal, error) {
	return i.stack.Eraser.Rehearse(ctx, i.sessions, subject)
}

// EraseAsRehearsed is Erase for an erasure that was rehearsed. It erases nothing and returns domain.ErrConflict if the
// erasure would do something else than the rehearsal that returned the fingerprint (domain.Rehearsal).
func (i *Integration) EraseAsRehearsed(
	ctx context.Context, subject domain.Subject, fingerprint string,
) (domain.ErasureResult, error) {
	return inSession(ctx, i.sessions, func(ctx context.Context, s ports.Session) (domain.ErasureResult, error) {
		return i.stack.Eraser.EraseAsRehearsed(ctx, s, subject, fingerprint)
	})
}

// inSession returns what fn returns in a session that has committed, and the zero value if it has not.
func inSession[T any](
	ctx context.Context, sessions ports.SessionFactory, fn func(context.Context, ports.Session) (T, error),
) (result T, err error) {
	err = sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		result, err = fn(ctx, s)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return result, nil
}
