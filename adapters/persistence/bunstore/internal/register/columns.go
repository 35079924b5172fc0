package register

import (
	"database/sql"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
)

// row returns the values of a request, in the order of unsent.Columns.
func (s *Store) row(r request.Request) []any {
	return []any{
		text(r.SubjectID.String()), string(r.Number), string(r.Kind), text(r.Purpose), string(r.State), text(r.StateReason),
		string(r.Channel), text(r.Language), text(r.Reference), text(r.RefersTo), s.dialect.Instant(r.ReceivedAt),
		s.dialect.Instant(r.EnteredAt), text(r.DueOn), s.instant(r.DueAt), text(r.StrictDueOn), s.instant(r.SuspendedAt),
		r.SuspendedDays, s.instant(r.LapsesAt), text(syntax.Join(r.Asked, ",", reasonText)), s.instant(r.ExtendedAt),
		text(r.ExtensionReason), s.instant(r.ExecuteAfter), text(r.VerifiedBy), text(r.DecidedBy), text(r.RefusalGround),
		text(r.DoneByHand), r.Partly, r.Attempts, s.instant(r.NextAttemptAt), text(r.LastError), s.instant(r.ClosedAt),
		r.Version,
	}
}

func reasonText(r request.Reason) string { return string(r) }

// scanRequest scans a request from the first columns of a row, and the other columns into targets. Each column may be
// NULL.
func scanRequest(row conn.Row, targets ...any) (r request.Request, err error) {
	columns := []any{
		into((*subjectID)(&r.SubjectID)), into(&r.Number), into(&r.Kind), into(&r.Purpose), into(&r.State),
		into(&r.StateReason), into(&r.Channel), into(&r.Language), into(&r.Reference), into(&r.RefersTo),
		into((*syntax.Instant)(&r.ReceivedAt)), into((*syntax.Instant)(&r.EnteredAt)), into(&r.DueOn),
		into((*syntax.Instant)(&r.DueAt)), into(&r.StrictDueOn), into((*syntax.Instant)(&r.SuspendedAt)),
		into(&r.SuspendedDays), into((*syntax.Instant)(&r.LapsesAt)), into((*reasons)(&r.Asked)),
		into((*syntax.Instant)(&r.ExtendedAt)), into(&r.ExtensionReason), into((*syntax.Instant)(&r.ExecuteAfter)),
		into(&r.VerifiedBy), into(&r.DecidedBy), into(&r.RefusalGround), into(&r.DoneByHand), into(&r.Partly),
		into(&r.Attempts), into((*syntax.Instant)(&r.NextAttemptAt)), into(&r.LastError),
		into((*syntax.Instant)(&r.ClosedAt)), into(&r.Version),
	}
	return r, row.Scan(append(columns, targets...)...)
}

// inUTC returns the request with all instants in UTC.
func inUTC(r request.Request) request.Request {
	for _, at := range []*time.Time{
		&r.ReceivedAt, &r.EnteredAt, &r.DueAt, &r.SuspendedAt, &r.LapsesAt, &r.ExtendedAt, &r.ExecuteAfter,
		&r.NextAttemptAt, &r.ClosedAt,
	} {
		*at = at.UTC()
	}
	return r
}

// orZero scans a column into a variable, and NULL as the zero value. It implements sql.Scanner.
type orZero[T any] struct{ into *T }

func into[T any](target *T) orZero[T] { return orZero[T]{target} }

// Scan implements sql.Scanner.
func (o orZero[T]) Scan(value any) error {
	var read sql.Null[T]
	err := read.Scan(value)
	*o.into = read.V
	return err
}

// subjectID scans the text of an id. It implements sql.Scanner.
type subjectID domain.SubjectID

// Scan implements sql.Scanner.
func (i *subjectID) Scan(value any) error {
	return (*domain.SubjectID)(i).UnmarshalText([]byte(syntax.Text(value)))
}

// reasons scans a list of reasons. It implements sql.Scanner.
type reasons []request.Reason

// Scan implements sql.Scanner.
func (r *reasons) Scan(value any) error {
	*r = nil
	for reason := range strings.SplitSeq(syntax.Text(value), ",") {
		*r = append(*r, request.Reason(reason))
	}
	return nil
}
