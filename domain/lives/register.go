package lives

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Register records that the application has registered a person under the id, see ports.SubjectStore.Register. The
// first call also records that the application registers people, see Registers. It does so before it locks the person:
// a session waits for the first call of another session, and must not hold a person then whom that session needs.
func Register(ctx context.Context, s ports.Session, id domain.SubjectID, at time.Time) error {
	if err := s.Installation().Registers(ctx); err != nil {
		return err
	}
	return s.Subjects().Register(ctx, id, at)
}

// Registers reports whether Register was called for any person of the data map before. It writes nothing.
func Registers(ctx context.Context, sessions ports.SessionFactory) (called bool, err error) {
	err = sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		found, err := s.Installation().Read(ctx)
		called = found.Registers
		return err
	})
	return called, err
}
