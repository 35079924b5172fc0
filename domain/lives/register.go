package lives

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// readerOfRegistrations is the name of the position that is 1 after the first call of Register, and 0 before.
const readerOfRegistrations = "registrations"

// Register records that the application has registered a person under the id, see ports.SubjectStore.Register. The
// first call also records that the application registers people, see Registers. It does so before it locks the person:
// a session waits for the first call of another session, and must not hold a person then whom that session needs.
func Register(ctx context.Context, s ports.Session, id domain.SubjectID, at time.Time) error {
	position, err := s.Erased().Position(ctx, readerOfRegistrations)
	if err == nil && position == 0 {
		_, err = s.Erased().Advance(ctx, readerOfRegistrations, 0, 1)
	}
	if err != nil {
		return err
	}
	return s.Subjects().Register(ctx, id, at)
}

// Registers reports whether Register was called for any person of the data map before. It writes nothing.
func Registers(ctx context.Context, sessions ports.SessionFactory) (called bool, err error) {
	err = sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		position, err := s.Erased().Position(ctx, readerOfRegistrations)
		called = position > 0
		return err
	})
	return called, err
}
