package app

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Rehearse executes an erasure in a transaction that is rolled back. It returns the changes that Erase would make. See
// erasure.Eraser.Rehearse.
func (i *Integration) Rehearse(ctx context.Context, subject domain.Subject) (domain.Rehearsal, error) {
	return i.stack.Eraser.Rehearse(ctx, i.sessions, subject)
}

// EraseAsRehearsed erases a subject if the erasure makes the same changes as an earlier rehearsal. The parameter
// fingerprint is the Fingerprint of that rehearsal (domain.Rehearsal). If the changes differ, EraseAsRehearsed erases
// nothing and returns domain.ErrConflict.
func (i *Integration) EraseAsRehearsed(
	ctx context.Context, subject domain.Subject, fingerprint string,
) (domain.ErasureResult, error) {
	return inSession(ctx, i.sessions, func(ctx context.Context, s ports.Session) (domain.ErasureResult, error) {
		return i.stack.Eraser.EraseAsRehearsed(ctx, s, subject, fingerprint)
	})
}

// Verify searches for rows and values that the last erasure of a subject should have deleted or overwritten. See
// verification.Verifier.Verify. It returns domain.ErrConflict if the subject was never erased. It returns
// domain.ErrConfiguration if the application set Config.Stack and that stack has no Verifier.
func (i *Integration) Verify(ctx context.Context, id domain.SubjectID) (domain.Verification, error) {
	if i.stack.Verifier == nil {
		return domain.Verification{}, domain.Misconfigured("app", "Config.Stack has no Verifier: create it with stack.New")
	}
	return inSession(ctx, i.sessions, func(ctx context.Context, s ports.Session) (domain.Verification, error) {
		return i.stack.Verifier.Verify(ctx, s, id)
	})
}

// inSession returns the result of fn if the session commits. Otherwise it returns the zero value and the error.
func inSession[T any](
	ctx context.Context, sessions ports.SessionFactory, fn func(context.Context, ports.Session) (T, error),
) (result T, err error) {
	err = sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		result, err = fn(ctx, s)
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return result, nil
}
