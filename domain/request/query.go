package request

import (
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Standing is the situation of a subject in the register, which decides about a further request.
type Standing struct {
	Open []Request // the requests that are open, in the order of intake; see State.IsOpen
	Held bool      // the subject has a Hold that is not lifted
	// Entered is the number of requests that the subject has made since an instant, without those that were only recorded
	// with their act, such as an export. An erasure counts always.
	Entered int
}

// OpenOf returns the open request of a kind, or nil.
func (s Standing) OpenOf(kind Kind) *Request {
	for i := range s.Open {
		if s.Open[i].Kind == kind {
			return &s.Open[i]
		}
	}
	return nil
}

// MaxPage is the maximum of Query.Limit.
const MaxPage = 1000

// Query selects requests for an operator. It selects requests of all lives of an id. Set at most one of SubjectID,
// Reference and Closed.
type Query struct {
	SubjectID domain.SubjectID // all requests of one subject, in the order of intake
	Reference string           // all requests with one file number, in the order of intake
	Closed    bool             // requests that are closed, the last one closed first
	// Otherwise, the query selects the requests that are not closed. The first one is due first, and requests without a
	// DueAt, whose clock is suspended, come last.

	Kind      Kind      // only requests of this kind; empty selects all
	State     State     // only requests in this state; empty selects all
	DueBefore time.Time // only requests whose DueAt is set and before this instant; zero selects all
	After     *Position // only requests behind this one in the list; ignored with SubjectID and Reference
	Limit     int       // the maximum number of requests, from 1 to MaxPage
}

// Position is the place of a request in a list.
type Position struct {
	At     time.Time // Request.DueAt, or Request.ClosedAt in a list of closed requests; zero if it is not set
	Number Number
}

// Matches reports whether the query selects the request. It ignores After and Limit.
func (q Query) Matches(r Request) bool {
	switch {
	case !q.SubjectID.IsZero() && r.SubjectID != q.SubjectID, q.Reference != "" && r.Reference != q.Reference:
		return false
	case q.SubjectID.IsZero() && q.Reference == "" && r.State.IsClosed() != q.Closed:
		return false
	}
	return (q.Kind == "" || r.Kind == q.Kind) && (q.State == "" || r.State == q.State) &&
		(q.DueBefore.IsZero() || !r.DueAt.IsZero() && r.DueAt.Before(q.DueBefore))
}

// Check returns domain.ErrInvalid if Limit is not between 1 and MaxPage, or if more than one of SubjectID, Reference
// and Closed is set.
func (q Query) Check() error {
	lists := 0
	for _, set := range []bool{!q.SubjectID.IsZero(), q.Reference != "", q.Closed} {
		if set {
			lists++
		}
	}
	switch {
	case q.Limit < 1 || q.Limit > MaxPage:
		return invalid("limit", "is not between 1 and "+strconv.Itoa(MaxPage))
	case lists > 1:
		return invalid("query", "has more than one of a subject, a reference and closed requests")
	default:
		return nil
	}
}

// Next returns the query for the requests behind the last one of a page.
func (q Query) Next(last Request) Query {
	q.After = &Position{last.DueAt, last.Number}
	if q.Closed {
		q.After.At = last.ClosedAt
	}
	return q
}

// Counts are numbers of requests that are not closed, at an instant. No number is above MaxCount, which
// says that there are at least so many.
type Counts struct {
	Open      int `json:"open"`      // not closed
	DueSoon   int `json:"due_soon"`  // DueAt is after the instant, and at most SoonDays days of 24 hours after it
	Overdue   int `json:"overdue"`   // DueAt is the instant, or before it
	Suspended int `json:"suspended"` // the clock waits for the subject: SuspendedAt is set
	OnHold    int `json:"on_hold"`   // a hold stops the erasure
}

// MaxCount bounds the numbers of Counts.
const MaxCount = 1001

// SoonDays is the number of days of Counts.DueSoon.
const SoonDays = 7
