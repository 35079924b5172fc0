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
// first call also records that the application registers people, see Registers.
func Register(ctx context.Context, s ports.Session, id domain.SubjectID, at time.Time) error {
	if err := s.Subjects().Register(ctx, id, at); err != nil {
		return err
	}
	reader, ok := s.(ports.MarkReader)
	if !ok {
		return nil // Registers cannot know it
	}
	position, err := reader.Marks().Position(ctx, readerOfRegistrations)
	if err == nil && position == 0 {
		_, err = reader.Marks().Advance(ctx, readerOfRegistrations, 0, 1)
	}
	return err
}

// Registers reports whether Register was called for any person of the data map before. It writes nothing. It returns
// domain.ErrConfiguration if the sessions do not implement ports.MarkReader.
func Registers(ctx context.Context, sessions ports.SessionFactory) (called bool, err error) {
	err = sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		reader, err := ports.MarksOf(s)
		if err != nil {
			return err
		}
		position, err := reader.Position(ctx, readerOfRegistrations)
		called = position > 0
		return err
	})
	return called, err
}
