package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
)

// Register has the stores of the register of requests (see package request). They share the transaction of their
// session.
type Register struct {
	Requests RequestStore
	Holds    HoldStore
}

// RequestStore keeps the requests of data subjects.
//
// A request has a number of intake, a sequence of the store, which no clock determines. An id can be given to another
// person after an erasure (see domain.Life). The requests up to domain.ErasureMark.RequestsUntil belong to an earlier
// life of the id. The store raises RequestsUntil as it raises ErasureMark.ConsentsUntil: with the commit of an erasure
// to the highest number of the subject's requests, those of this session included, and if a request is added after the
// life of the id has ended. Standing.Entered and Of leave out requests of an earlier life.
//
// A subject has at most one open request of each kind (request.State.IsOpen). A request without a subject has no limit.
// Methods that add a request or change one lock the ledgers of its subject, as ConsentStore.Append does. They wait for
// an erasure of this subject, and an erasure waits for them.
type RequestStore interface {
	// Add adds a request. If the subject has an open request of this kind already, Add adds nothing, and returns this
	// request and false. If several sessions add such a request at the same time, one of them adds it. Add returns
	// domain.ErrConflict if the number exists already.
	Add(ctx context.Context, r request.Request) (standing request.Request, added bool, err error)

	// Append adds a request that is recorded with its act: it is closed, or request.Executing. A session may send it
	// later, in one batch with audit events.
	Append(ctx context.Context, r request.Request) error

	// Update replaces the request with the number and the preceding version: r.Version - 1. It returns domain.ErrConflict
	// if the request has another version, or does not exist; the session can go on after that. If two sessions update one
	// request, the second one waits for the first, and returns this error if that one commits. Update also returns
	// domain.ErrConflict if the subject has another open request of this kind. It never changes Number, Kind, ReceivedAt
	// and EnteredAt.
	Update(ctx context.Context, r request.Request) error

	// Find returns the request with the number, of any life and with or without a subject. It returns nil if there is
	// none. The number of its statements and their text are the same for every number.
	Find(ctx context.Context, number request.Number) (*request.Request, error)

	// Of returns the subject's requests, the last one first, at most request.MaxPage.
	Of(ctx context.Context, id domain.SubjectID) ([]request.Request, error)

	// Standing returns the subject's open requests, and whether a hold stands. Both are of any life, because an open
	// request of an earlier life must be closed. It counts the requests that the subject has made: those with the channel
	// request.SelfService whose EnteredAt is since or later, and whose Version is above 1, or that are not closed, or
	// whose kind is request.Erasure. It reads what is committed when it is called, in one statement, and takes no lock. In
	// a session that has just called SubjectStore.Export for the subject, it may return what that call has read if since
	// is zero, and leaves Standing.Entered zero then.
	Standing(ctx context.Context, id domain.SubjectID, since time.Time) (request.Standing, error)

	// List returns the requests that the query selects. It returns domain.ErrInvalid if query.Limit is not between 1 and
	// request.MaxPage, or if more than one of the fields SubjectID, Reference and Closed is set. In a database, its cost
	// depends on the number of requests that are returned or that Kind and State leave out, and on no other request.
	List(ctx context.Context, query request.Query) ([]request.Request, error)

	// Counts returns the numbers of requests at an instant. Its cost does not depend on the number of closed requests.
	Counts(ctx context.Context, at time.Time) (request.Counts, error)

	// Purge deletes at most limit requests that were closed before an instant, except those of subjects with a hold that
	// stands. It returns their number.
	Purge(ctx context.Context, closedBefore time.Time, limit int) (int64, error)
}

// HoldStore keeps the legal holds.
type HoldStore interface {
	// Add adds a hold. It locks the ledgers of the subject: it waits for an erasure of the subject that has begun, and an
	// erasure that begins later finds the hold. Add returns domain.ErrConflict if the id of the hold exists already.
	Add(ctx context.Context, hold request.Hold) error

	// Update replaces ReviewAt, LiftedBy and LiftedAt of a hold that stands. It returns domain.ErrConflict if the hold
	// does not exist or is lifted. It locks as Add does.
	Update(ctx context.Context, hold request.Hold) error

	// Find returns the hold with the id, or nil if there is none.
	Find(ctx context.Context, id string) (*request.Hold, error)

	// Of returns the holds of a subject, in the order of intake, also those that are lifted.
	Of(ctx context.Context, id domain.SubjectID) ([]request.Hold, error)

	// List returns the holds that stand and whose ReviewAt is before an instant, the earliest first, at most limit.
	List(ctx context.Context, reviewBefore time.Time, limit int) ([]request.Hold, error)
}

// Secrets makes numbers that nobody can guess. It is safe for concurrent use.
type Secrets interface {
	// Number returns as many random bytes as request.NewNumber takes.
	Number() [13]byte
}
