package register

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// Find returns the request with the number, for an operator. It returns domain.ErrNotFound if there is none.
func (r *Register) Find(ctx context.Context, s ports.Session, number request.Number) (request.Request, error) {
	found, err := s.Register().Requests.Find(ctx, number)
	switch {
	case err != nil:
		return request.Request{}, err
	case found == nil:
		return request.Request{}, notFound()
	}
	return *found, nil
}

func notFound() error {
	return &domain.Error{Code: domain.ErrNotFound, Op: "request", Message: "there is no such request"}
}

// Of returns the requests of a subject, the last one first. It leaves out requests of earlier lives of the id.
func (r *Register) Of(ctx context.Context, s ports.Session, id domain.SubjectID) ([]request.Request, error) {
	if err := domain.CheckCall("requests", id, nil); err != nil {
		return nil, err
	}
	return s.Register().Requests.Of(ctx, id)
}

// FindOf returns a request of a subject. It returns domain.ErrNotFound if the subject has no such request in this life.
func (r *Register) FindOf(
	ctx context.Context, s ports.Session, id domain.SubjectID, number request.Number,
) (request.Request, error) {
	all, err := r.Of(ctx, s, id)
	if err != nil {
		return request.Request{}, err
	}
	at := slices.IndexFunc(all, func(one request.Request) bool { return one.Number == number })
	if at < 0 {
		return request.Request{}, notFound()
	}
	return all[at], nil
}

// Withdraw withdraws a request of a subject, and records request_withdrawn. It returns domain.ErrNotFound as FindOf
// does, and domain.ErrConflict if the request is closed otherwise or is executing.
func (r *Register) Withdraw(
	ctx context.Context, s ports.Session, id domain.SubjectID, number request.Number,
) (request.Request, error) {
	of, err := r.FindOf(ctx, s, id, number)
	if err != nil {
		return of, err
	}
	return r.change(ctx, s, of, request.Event{Name: request.Withdraw, At: r.now()}, nil)
}

// acts are the events that only the service of a right or a change of a hold may cause.
var acts = []request.EventName{
	request.CarryOut, request.OwnAct, request.Due, request.Erased, request.EarlierLife, request.Settled,
	request.HoldPlaced, request.HoldLifted,
}

// reported are the events of which an operator may hear later.
var reported = []request.EventName{request.Delivered, request.Undelivered, request.Answered}

// Apply applies the decision of an operator, or another event, and records it. The register sets the instant of the
// event, its operator (domain.WithOperator), and whether a hold stands. For request.Delivered, request.Undelivered and
// request.Answered, Event.At may lie between the question and now; the default is now.
//
// Apply returns domain.ErrInvalid if the event lacks a member, or if it is one that only an erasure, an export, a
// restriction or a change of a hold may cause. It returns domain.ErrConflict, with the state that stands, if the event
// is not possible in that state, and domain.ErrNotFound if there is no such request.
func (r *Register) Apply(
	ctx context.Context, s ports.Session, number request.Number, e request.Event,
) (request.Request, error) {
	of, err := r.Find(ctx, s, number)
	if err != nil {
		return of, err
	}
	now, given := r.now(), domain.Instant(e.At)
	e.At, e.Operator = now, domain.OperatorOf(ctx)
	if slices.Contains(reported, e.Name) && !given.IsZero() {
		e.At = given
	}
	switch {
	case e.At.After(now) || e.At.Before(of.SuspendedAt):
		return of, domain.Invalid("request", []domain.FieldError{
			fault("at", domain.FieldUnknown, "must lie between the question and now"),
		})
	case slices.Contains(acts, e.Name):
		return of, domain.Invalid("request", []domain.FieldError{
			fault("event", domain.FieldUnknown, "is no decision of an operator"),
		})
	case e.Name == request.Schedule && !of.SubjectID.IsZero():
		standing, err := s.Register().Requests.Standing(ctx, of.SubjectID, time.Time{})
		if err != nil {
			return of, err
		}
		e.Held = standing.Held
	}
	return r.change(ctx, s, of, e, nil)
}

// List returns the requests that the query selects, see ports.RequestStore.List.
func (r *Register) List(ctx context.Context, s ports.Session, query request.Query) ([]request.Request, error) {
	return s.Register().Requests.List(ctx, query)
}

// Counts returns how many requests are open, due within a week, overdue, suspended and held.
func (r *Register) Counts(ctx context.Context, s ports.Session) (request.Counts, error) {
	return s.Register().Requests.Counts(ctx, r.now())
}
