package app

import (
	"context"
	"io"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/domain/verification"
	"github.com/habeas-data/habeas/ports"
)

// Subjects has the methods for one subject, and for values of a subject.
type Subjects struct {
	stack    Stack
	sessions ports.SessionFactory
}

// SubjectState returns whether the subject's table has a row of the subject, and the life of the id: after an erasure,
// whether the row belongs to the erased person (see domain.Life). It only reads and waits for no lock, so that it also
// works on a standby. It does not see an erasure that is not committed yet.
func (o *Subjects) SubjectState(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) (domain.SubjectState, error) {
		return s.Subjects().State(ctx, id)
	})
}

// Export writes a copy of the subject's data to w, in the format of GET /export. It returns the domain.ExportBundle
// without its records, because the records are only written to w. See export.Exporter.Write.
func (o *Subjects) Export(ctx context.Context, subject domain.Subject, w io.Writer) (domain.ExportBundle, error) {
	return o.stack.Exporter.Write(ctx, o.sessions, subject, w)
}

// Rehearse executes an erasure in a transaction that is rolled back. It returns the changes that Erase would make. See
// erasure.Eraser.Rehearse.
func (o *Subjects) Rehearse(ctx context.Context, subject domain.Subject) (datamap.Rehearsal, error) {
	return o.stack.Eraser.Rehearse(ctx, o.sessions, subject)
}

// Preview does the same as Rehearse, and calls show with up to limit rows of each step, before and after the erasure.
// The rows hold values of the subject: they are only for an operator at a terminal. See erasure.Eraser.Preview.
func (o *Subjects) Preview(
	ctx context.Context, subject domain.Subject, limit int, show func(datamap.StepSample) error,
) (datamap.Rehearsal, error) {
	return o.stack.Eraser.Preview(ctx, o.sessions, subject, limit, show)
}

// Erase erases a subject outside of a request, in one session without a timeout. Use it for a subject with so many rows
// that DELETE /me exceeds RequestTimeout. Do not pass the context of a request, because the erasure fails if ctx ends.
// The application must have authenticated the subject. Errors are the errors of Eraser.Erase and of the store.
func (o *Subjects) Erase(ctx context.Context, subject domain.Subject) (domain.ErasureResult, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) (domain.ErasureResult, error) {
		return o.stack.Eraser.Erase(ctx, s, subject)
	})
}

// EraseAsRehearsed erases a subject if the erasure has the same effects and row counts as an earlier rehearsal. The
// parameter fingerprint is the Fingerprint of that rehearsal (datamap.Rehearsal). If they differ, EraseAsRehearsed
// erases nothing and returns domain.ErrConflict. See erasure.Eraser.EraseAsRehearsed.
func (o *Subjects) EraseAsRehearsed(
	ctx context.Context, subject domain.Subject, fingerprint string,
) (domain.ErasureResult, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) (domain.ErasureResult, error) {
		return o.stack.Eraser.EraseAsRehearsed(ctx, s, subject, fingerprint)
	})
}

// Verify searches for rows and values that the last erasure of a subject should have deleted or overwritten. See
// verification.Verifier.Verify. It returns domain.ErrConflict if the subject was never erased. It returns
// domain.ErrConfiguration if the application set Config.Stack and that stack has no Verifier.
func (o *Subjects) Verify(ctx context.Context, id domain.SubjectID) (domain.Verification, error) {
	return o.verify(ctx, id, (*verification.Verifier).Verify)
}

// ClearLeftOver does the same as Verify, and clears the recorded leftovers of an id that has a new life, or an unknown
// one. See verification.Verifier.Clear. It returns the errors of Verify.
func (o *Subjects) ClearLeftOver(ctx context.Context, id domain.SubjectID) (domain.Verification, error) {
	return o.verify(ctx, id, (*verification.Verifier).Clear)
}

func (o *Subjects) verify(
	ctx context.Context, id domain.SubjectID,
	do func(*verification.Verifier, context.Context, ports.Session, domain.SubjectID) (domain.Verification, error),
) (domain.Verification, error) {
	if o.stack.Verifier == nil {
		return domain.Verification{}, domain.Misconfigured("app", "Config.Stack has no Verifier: create it with stack.New")
	}
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) (domain.Verification, error) {
		return do(o.stack.Verifier, ctx, s, id)
	})
}

// Trail returns the audit events of a subject in the order in which they were recorded.
func (o *Subjects) Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.AuditEvent, error) {
		if err := domain.CheckCall("trail", id, nil); err != nil {
			return nil, err
		}
		return s.Audit().Trail(ctx, id)
	})
}

// Consents returns whether a subject has given consent for each purpose of Config.Purposes, and then for the other
// purposes about which the ledger has a decision of the subject.
func (o *Subjects) Consents(ctx context.Context, id domain.SubjectID) (domain.ConsentStatuses, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) (domain.ConsentStatuses, error) {
		return o.stack.Consent.AllStatuses(ctx, s, id)
	})
}

// ConsentHistory returns every consent decision for a purpose under an id, in the order in which they were recorded. It
// includes the decisions of earlier people with the same id: show it to operators only.
func (o *Subjects) ConsentHistory(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) ([]domain.ConsentRecord, error) {
		return o.stack.Consent.HistoryOfAllLives(ctx, s, id, purpose)
	})
}

// ConsentAsOf returns the consent for a purpose that was in force at the given past instant. See
// consent.Ledger.StatusAsOf.
func (o *Subjects) ConsentAsOf(
	ctx context.Context, id domain.SubjectID, purpose string, at time.Time,
) (domain.ConsentStatus, error) {
	return inSession(ctx, o.sessions, func(ctx context.Context, s ports.Session) (domain.ConsentStatus, error) {
		return o.stack.Consent.StatusAsOf(ctx, s, id, purpose, at)
	})
}

// Find searches the tables of the database for values, such as an email address or a phone number. It returns the
// tables and columns that contain them. See ports.Finder. Find reads complete tables, so call it for an operator and
// not in a request of a user. The parameter progress may be nil. Find returns domain.ErrConfiguration if the
// application set Config.Stack and that stack has no Finder (see stack.Config.Finder).
func (o *Subjects) Find(
	ctx context.Context, values []string, progress func(search.Progress),
) (search.Result, error) {
	if o.stack.Finder == nil {
		return search.Result{}, domain.Misconfigured("app", "the stack has no Finder: set Finder in stack.Config")
	}
	return o.stack.Finder.Find(ctx, values, progress)
}
