package register

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
)

// requests implements ports.RequestStore.
type requests struct{ *Session }

const (
	addRequest = `
		INSERT INTO {requests} ({columns}) VALUES ({values})
		ON CONFLICT DO NOTHING
		RETURNING {columns}, {may be ended}`

	updateRequest = `
		UPDATE {requests} SET {changes} WHERE number = {number} AND version = {version}
		RETURNING {columns}, {may be ended}`

	// mayBeEnded is the condition that the subject was erased, and the request came in after that. See
	// unsent.Session.TakeErased.
	mayBeEnded = `
		EXISTS (SELECT 1 FROM {erasures} AS e WHERE e.subject_id = {requests}.subject_id AND e.erasures > 0
			AND e.requests_until < {requests}.seq)`

	openLike = `SELECT {columns} FROM {requests} WHERE subject_id = $1 AND kind = $2 AND {open}`
)

// maxAdds is how often Add tries again because the open request that it found was closed in between.
const maxAdds = 3

// Add implements ports.RequestStore.
func (r requests) Add(ctx context.Context, added request.Request) (request.Request, bool, error) {
	var args syntax.Args
	values := syntax.Join(r.row(added), ", ", args.Next)
	for range maxAdds {
		found, err := r.write(ctx, added.SubjectID, r.fill(addRequest, "values", values), args)
		if err != nil || len(found) > 0 {
			return first(found), err == nil, err
		}
		found, err = r.read(ctx, r.fill(openLike), added.SubjectID.String(), string(added.Kind))
		if err != nil || len(found) > 0 {
			return first(found), false, err
		}
		if same, err := r.Find(ctx, added.Number); err != nil || same != nil {
			break
		}
	}
	return request.Request{}, false, r.conflict(ctx, "add request", "a request with this number exists already")
}

// Append implements ports.RequestStore.
func (r requests) Append(ctx context.Context, added request.Request) error {
	if added.SubjectID.IsZero() { // there is no ledger to lock
		_, _, err := r.Add(ctx, added)
		return err
	}
	return r.unsent.Add(ctx, unsent.Requests, r.row(added)...)
}

// Update implements ports.RequestStore.
func (r requests) Update(ctx context.Context, changed request.Request) error {
	var args syntax.Args
	var changes []string
	row := r.row(changed)
	for i, column := range strings.Split(unsent.Columns(unsent.Requests), ", ") {
		if !slices.Contains([]string{"number", "kind", "received_at", "entered_at"}, column) {
			changes = append(changes, column+" = "+args.Next(row[i]))
		}
	}
	text := r.fill(updateRequest, "changes", strings.Join(changes, ", "),
		"number", args.Next(string(changed.Number)), "version", args.Next(changed.Version-1))
	found, err := r.write(ctx, changed.SubjectID, text, args)
	if err == nil && len(found) == 0 {
		err = errChanged // nothing was written, so the session can go on
	}
	return err
}

var errChanged = &domain.Error{
	Code: domain.ErrConflict, Op: "update request", Message: "the request has changed, or does not exist",
}

// write runs a statement that adds a request of the subject or changes one, and returns the request if there is one.
// The statement sees what sessions of this subject have committed before, because it comes after the lock.
func (r requests) write(
	ctx context.Context, id domain.SubjectID, text string, args []any,
) (found []request.Request, err error) {
	if err := r.lock(ctx, id); err != nil {
		return nil, err
	}
	if err := r.unsent.Send(ctx, unsent.Requests); err != nil {
		return nil, err
	}
	err = r.db.WriteRows(ctx, "write request", func(rows *sql.Rows) error {
		var mayBeEnded bool
		one, err := scanRequest(rows, &mayBeEnded)
		if found = append(found, one); mayBeEnded {
			r.unsent.NoteErased(id)
		}
		return err
	}, text, args...)
	return found, err
}

const (
	findRequest = `SELECT {columns} FROM {requests} WHERE number = $1`

	requestsOf = `
		SELECT {columns} FROM {requests} WHERE subject_id = $1 AND seq > COALESCE({until}, 0) ORDER BY seq DESC LIMIT $2`

	// readStanding returns a row for each open request, or one without a request.
	readStanding = `
		SELECT {columns}, s.held, s.entered
		FROM (SELECT {held} AS held, (SELECT count(*) FROM {requests}
				WHERE subject_id = $1 AND seq > COALESCE({until}, 0) AND channel = 'self_service' AND entered_at >= $2
					AND (version > 1 OR kind = 'erasure' OR {not closed})) AS entered) AS s
			LEFT JOIN {requests} AS r ON r.subject_id = $1 AND r.{open}
		ORDER BY r.seq`
)

// Find implements ports.RequestStore.
func (r requests) Find(ctx context.Context, number request.Number) (*request.Request, error) {
	found, err := r.read(ctx, r.fill(findRequest), string(number))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Of implements ports.RequestStore.
func (r requests) Of(ctx context.Context, id domain.SubjectID) ([]request.Request, error) {
	return r.read(ctx, r.ofSubject(requestsOf), id.String(), request.MaxPage)
}

// Standing implements ports.RequestStore.
func (r requests) Standing(
	ctx context.Context, id domain.SubjectID, since time.Time,
) (standing request.Standing, err error) {
	if read := r.unsent.Standing; read != nil && read.SubjectID == id && since.IsZero() {
		if standing, ok := decodeStanding(read.JSON); ok {
			return standing, r.db.Usable()
		}
	}
	if err := r.send(ctx); err != nil {
		return standing, err
	}
	err = r.db.Read(ctx, "read requests", func(rows *sql.Rows) error {
		open, err := scanRequest(rows, &standing.Held, &standing.Entered)
		if open.Number != "" {
			standing.Open = append(standing.Open, open)
		}
		return err
	}, r.ofSubject(readStanding), id.String(), r.dialect.Instant(since))
	return standing, err
}

// ofSubject returns a statement on the requests of the subject $1.
func (s *Store) ofSubject(text string) string {
	return s.fill(text, "until", ledger.EarlierUntil(s.tables, unsent.Requests, "$1"),
		"held", s.tables.Fill(isHeld, "subject", "$1"))
}

// read returns the requests that a statement selects.
func (r requests) read(ctx context.Context, text string, args ...any) (found []request.Request, err error) {
	if err := r.send(ctx); err != nil {
		return nil, err
	}
	err = r.db.Read(ctx, "read requests", func(rows *sql.Rows) error {
		one, err := scanRequest(rows)
		found = append(found, one)
		return err
	}, text, args...)
	return found, err
}

func first(found []request.Request) (one request.Request) {
	if len(found) > 0 {
		one = found[0]
	}
	return one
}
