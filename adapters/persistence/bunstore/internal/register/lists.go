package register

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain/request"
)

// List implements ports.RequestStore.
func (r requests) List(ctx context.Context, query request.Query) ([]request.Request, error) {
	if err := query.Check(); err != nil {
		return nil, err
	}
	text, args := r.listStatement(query)
	return r.read(ctx, text, args...)
}

const (
	listRequests = `SELECT {columns} FROM {requests} WHERE {conditions} ORDER BY {order} LIMIT {limit}`
	byDueAt      = `{due at}, number`

	// The first condition of each pair follows from the second one. SQLite finds the rows by it.
	dueBehind    = `{due at} >= {at} AND ({due at}, number) > ({at}, {number})`
	closedBehind = `{closed at} <= {at} AND ({closed at}, number) < ({at}, {number})`
)

// listStatement returns the statement for a query. Each list has an index with its condition and its order.
func (s *Store) listStatement(q request.Query) (string, syntax.Args) {
	var args syntax.Args
	var conditions []string
	order, behind := "seq", ""
	switch {
	case !q.SubjectID.IsZero():
		conditions = append(conditions, "subject_id = "+args.Next(q.SubjectID.String()))
	case q.Reference != "":
		conditions = append(conditions, "reference = "+args.Next(q.Reference))
	case q.Closed:
		conditions = append(conditions, isClosed)
		order, behind = "{closed at} DESC, number DESC", closedBehind
	default:
		conditions = append(conditions, notClosed)
		order, behind = byDueAt, dueBehind
	}
	if q.After != nil && behind != "" {
		at := s.never(q.Closed)
		if !q.After.At.IsZero() {
			at = args.Next(s.dialect.Instant(q.After.At))
		}
		conditions = append(conditions, syntax.Fill(behind, "at", at, "number", args.Next(string(q.After.Number))))
	}
	if q.Kind != "" {
		conditions = append(conditions, "kind = "+args.Next(string(q.Kind)))
	}
	if q.State != "" {
		conditions = append(conditions, "state = "+args.Next(string(q.State)))
	}
	if !q.DueBefore.IsZero() {
		conditions = append(conditions, "{due at} < "+args.Next(s.dialect.Instant(q.DueBefore)))
	}
	where := s.fill(strings.Join(conditions, " AND "))
	return s.fill(listRequests, "conditions", where, "order", s.fill(order), "limit", args.Next(q.Limit)), args
}

const (
	// countRequests counts by the indexes, and ends each count at the limit $3.
	countRequests = `
		SELECT {all}, {soon}, {overdue}, {suspended}, {on hold}`

	countSome = `(SELECT count(*) FROM (SELECT 1 FROM {requests} WHERE {condition} ORDER BY {order} LIMIT $3) AS bounded)`
)

// Counts implements ports.RequestStore.
func (r requests) Counts(ctx context.Context, at time.Time) (counts request.Counts, err error) {
	if err := r.send(ctx); err != nil {
		return counts, err
	}
	soon := at.Add(request.SoonDays * 24 * time.Hour)
	err = r.db.Read(ctx, "count requests", func(rows *sql.Rows) error {
		return rows.Scan(&counts.Open, &counts.DueSoon, &counts.Overdue, &counts.Suspended, &counts.OnHold)
	}, r.countStatement(), r.dialect.Instant(at), r.dialect.Instant(soon), request.MaxCount)
	return counts, err
}

func (s *Store) countStatement() string {
	count := func(condition string) string {
		return s.fill(countSome, "order", s.fill(byDueAt), "condition", s.fill(condition))
	}
	return syntax.Fill(countRequests,
		"all", count("{not closed}"),
		"soon", count("{not closed} AND {due at} > $1 AND {due at} <= $2"),
		"overdue", count("{not closed} AND {due at} <= $1"),
		"suspended", count("{not closed} AND {due at} >= 'infinity' AND suspended_at IS NOT NULL"),
		"on hold", count("state = 'on_hold'"))
}

const (
	purgeRequests = `DELETE FROM {requests} WHERE {found}`

	findClosed = `
		SELECT number FROM {requests}
		WHERE {closed} AND {closed at} < $1 AND NOT {held}
		ORDER BY {closed at}, number LIMIT $2`
)

// Purge implements ports.RequestStore.
func (r requests) Purge(ctx context.Context, closedBefore time.Time, limit int) (int64, error) {
	if limit <= 0 {
		return 0, r.db.Usable()
	}
	if err := r.unsent.Send(ctx, unsent.Requests); err != nil {
		return 0, err
	}
	found := r.fill(findClosed, "held", r.tables.Fill(isHeld, "subject", r.tables.Requests+".subject_id"))
	text := r.fill(purgeRequests, "found", r.dialect.IsInQuery("number", found))
	return r.db.Write(ctx, "purge requests", text, r.dialect.Instant(closedBefore), limit)
}

// StandingValue returns the query for the situation of the subject in the register, as one JSON text in PostgreSQL. An
// export reads it in its own statement.
func StandingValue(tables syntax.Tables, subject string) string {
	return tables.Fill(standingValue, "held", tables.Fill(isHeld, "subject", subject), "subject", subject, "open", isOpen)
}

const standingValue = `
	SELECT CAST(json_build_object('held', {held}, 'open', (
		SELECT json_agg(r ORDER BY r.seq) FROM {requests} AS r WHERE r.subject_id = {subject} AND r.{open}
	)) AS text) AS value`

// decodeStanding decodes the result of StandingValue, without Standing.Entered. It returns false if a value cannot be
// decoded, such as an instant outside the range of JSON.
func decodeStanding(text []byte) (standing request.Standing, ok bool) {
	var read struct {
		Held bool
		Open []struct {
			request.Request

			Asked *string `json:"asked"` // in front of that of the request
		}
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return standing, false
	}
	standing.Held = read.Held
	for _, open := range read.Open {
		if open.Asked != nil {
			_ = (*reasons)(&open.Request.Asked).Scan(*open.Asked) // never fails
		}
		standing.Open = append(standing.Open, inUTC(open.Request))
	}
	return standing, true
}
