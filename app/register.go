package app

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// Register has the methods by which operators answer requests of data subjects. Each method uses one session, and its
// errors are those of the method of register.Register with the same name. No method checks whether its caller is
// authorized. If ctx comes from domain.WithOperator, the audit events have the id of the operator. A Register is safe
// for concurrent use.
type Register struct {
	stack    Stack
	sessions ports.SessionFactory
}

// Register returns the register of requests, or nil if Config.Requests is not set.
func (i *Integration) Register() *Register {
	if i.stack.Register == nil {
		return nil
	}
	return &Register{i.stack, i.sessions}
}

// Open opens a request that came by letter, call or mail, or through an agent. It reports whether the request is new.
func (r *Register) Open(ctx context.Context, opening register.Opening) (opened request.Request, isNew bool, err error) {
	err = r.sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		opened, isNew, err = r.stack.Register.Open(ctx, s, opening)
		return err
	})
	return opened, isNew, err
}

// Assign names the person of a request that has none yet.
func (r *Register) Assign(
	ctx context.Context, number request.Number, id domain.SubjectID, proof request.Proof,
) (request.Request, error) {
	return inSession(ctx, r.sessions, func(ctx context.Context, s ports.Session) (request.Request, error) {
		return r.stack.Register.Assign(ctx, s, number, id, proof)
	})
}

// Apply applies a decision to a request, such as a question, an extension or a refusal.
func (r *Register) Apply(ctx context.Context, number request.Number, event request.Event) (request.Request, error) {
	return inSession(ctx, r.sessions, func(ctx context.Context, s ports.Session) (request.Request, error) {
		return r.stack.Register.Apply(ctx, s, number, event)
	})
}

// CarryOut erases the person of a request for erasure now. Requests.Person names the person. It needs a ctx from
// domain.WithOperator. It returns domain.ErrHeld if a legal hold stands, domain.ErrConflict if the state of the request
// does not allow it, and domain.ErrInvalid without an operator and for a request of another kind or without a person.
func (r *Register) CarryOut(ctx context.Context, number request.Number) (domain.ErasureResult, error) {
	var result domain.ErasureResult
	of, err := r.Find(ctx, number)
	if err != nil {
		return result, err
	}
	var faults []domain.FieldError
	if of.Kind != request.Erasure || of.SubjectID.IsZero() {
		faults = append(faults, domain.FieldError{
			Field: "number", Code: domain.FieldUnknown, Message: "must be of a request for erasure with a person",
		})
	}
	if domain.OperatorOf(ctx) == "" {
		faults = append(faults, domain.FieldError{
			Field: "operator", Code: domain.FieldRequired, Message: "must not be empty",
		})
	}
	if err := domain.Invalid("carry out", faults); err != nil {
		return result, err
	}
	if _, err := request.Transition(of, request.Event{Name: request.CarryOut}); err != nil {
		return result, err
	}
	ctx, subject, err := r.stack.Person(ctx, of.SubjectID)
	if err != nil {
		return result, err
	}
	if subject.ID != of.SubjectID {
		return result, domain.Misconfigured("app", "Requests.Person returned another subject")
	}
	return inSession(domain.WithRequest(ctx, string(number)), r.sessions,
		func(ctx context.Context, s ports.Session) (domain.ErasureResult, error) {
			return r.stack.Eraser.Erase(ctx, s, subject)
		})
}

// Find returns the request with the number.
func (r *Register) Find(ctx context.Context, number request.Number) (request.Request, error) {
	return inSession(ctx, r.sessions, func(ctx context.Context, s ports.Session) (request.Request, error) {
		return r.stack.Register.Find(ctx, s, number)
	})
}

// List returns the requests that the query selects.
func (r *Register) List(ctx context.Context, query request.Query) ([]request.Request, error) {
	return inSession(ctx, r.sessions, func(ctx context.Context, s ports.Session) ([]request.Request, error) {
		return r.stack.Register.List(ctx, s, query)
	})
}

// PlaceHold places a legal hold on a person.
func (r *Register) PlaceHold(ctx context.Context, hold request.Hold) (request.Hold, error) {
	return inSession(ctx, r.sessions, func(ctx context.Context, s ports.Session) (request.Hold, error) {
		return r.stack.Register.PlaceHold(ctx, s, hold)
	})
}

// ReviewHold sets the next review of a hold.
func (r *Register) ReviewHold(ctx context.Context, id string, reviewAt time.Time) (request.Hold, error) {
	return inSession(ctx, r.sessions, func(ctx context.Context, s ports.Session) (request.Hold, error) {
		return r.stack.Register.ReviewHold(ctx, s, id, reviewAt)
	})
}

// LiftHold lifts a hold.
func (r *Register) LiftHold(ctx context.Context, id string) (request.Hold, error) {
	return inSession(ctx, r.sessions, func(ctx context.Context, s ports.Session) (request.Hold, error) {
		return r.stack.Register.LiftHold(ctx, s, id)
	})
}

// HoldsOf returns the holds of a person, also those that are lifted.
func (r *Register) HoldsOf(ctx context.Context, id domain.SubjectID) ([]request.Hold, error) {
	return inSession(ctx, r.sessions, func(ctx context.Context, s ports.Session) ([]request.Hold, error) {
		return r.stack.Register.HoldsOf(ctx, s, id)
	})
}

// Holds returns the holds that stand and whose review is before an instant, the earliest first, at most limit.
func (r *Register) Holds(ctx context.Context, reviewBefore time.Time, limit int) ([]request.Hold, error) {
	return inSession(ctx, r.sessions, func(ctx context.Context, s ports.Session) ([]request.Hold, error) {
		return r.stack.Register.Holds(ctx, s, reviewBefore, limit)
	})
}

// Counts returns how many requests are open, due within a week, overdue, suspended and held.
func (r *Register) Counts(ctx context.Context) (request.Counts, error) {
	return inSession(ctx, r.sessions, r.stack.Register.Counts)
}
