package bunstore_test

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// A session in a transaction of the application holds a lock of the subject, and takes a further one while another
// session waits. A deadlock would make the transaction fail, or the other session start again.
func TestSessionsOfOneSubjectLockInTheSameOrder(t *testing.T) {
	t.Parallel()
	id := subjectID(t, "1")
	consent := consentOf(t, "1", true)
	register := func(ctx context.Context, s ports.Session) error { return s.Subjects().Register(ctx, id, noon) }
	rectify := func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().LockToRectify(ctx, id)
		return err
	}
	erase := func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Lock(ctx, id, noon)
		return err
	}
	restriction := func(ctx context.Context, s ports.Session) error {
		return s.Restrictions().Append(ctx, domain.RestrictionRecord{SubjectID: id, Restricted: true, RecordedAt: noon})
	}
	for name, c := range map[string]struct {
		first, then, other func(context.Context, ports.Session) error
	}{
		"rectification and erasure, registration":   {rectify, erase, register},
		"rectification and erasure, rectification":  {rectify, erase, rectify},
		"rectification and consent, erasure":        {rectify, consent, erase},
		"registration and consent, erasure":         {register, consent, erase},
		"registration and restriction, erasure":     {register, restriction, erase},
		"registration and consent, rectification":   {register, consent, rectify},
		"registration and consent, registration":    {register, consent, register},
		"erasure and consent, registration":         {erase, consent, register},
		"registration with a consent, erasure":      {inTurn(consent, register), restriction, erase},
		"registration with a consent, registration": {inTurn(consent, register), restriction, register},
		"erasure with a restriction, registration":  {inTurn(restriction, erase), consent, register},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApplication(t, databases.PostgreSQL(t), nil, (*visitor)(nil))
			must(t, a.store.Do(t.Context(), consent)) // so that a registration writes a mark
			_, err := a.db.ExecContext(t.Context(), "INSERT INTO visitors (id) VALUES (1)")
			must(t, err)
			attempts := 0
			waited := a.overlap(t, c.first, func(ctx context.Context, s ports.Session) error {
				attempts++
				return c.other(ctx, s)
			}, c.then)
			if !waited || attempts != 1 {
				t.Errorf("waited: %v, attempts: %d", waited, attempts)
			}
		})
	}
}

// inTurn calls the functions with the same session.
func inTurn(steps ...func(context.Context, ports.Session) error) func(context.Context, ports.Session) error {
	return func(ctx context.Context, s ports.Session) error {
		for _, step := range steps {
			if err := step(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
}
