package register

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// Erasing is called in the session of an erasure, after the subject is locked; see erasure.Config.Register. It returns
// domain.ErrHeld if a legal hold stands. Otherwise it returns the number of the request that the erasure carries out:
// the open one of the subject, or a new one with the number of ctx (Begin). Without a number in ctx, the erasure is no
// request. It then returns no number, and the subject's open requests are withdrawn.
//
// The returned function records the request, and withdraws the other open requests of the subject, because the data of
// which they speak is gone.
func (r *Register) Erasing(ctx context.Context, s ports.Session, id domain.SubjectID) (
	string, func(context.Context, domain.ErasureResult, bool) error, error,
) {
	if r == nil {
		return "", nil, nil
	}
	number, now, operator := request.Number(domain.RequestOf(ctx)), r.now(), domain.OperatorOf(ctx)
	standing, err := r.standing(ctx, s, id, r.today(now))
	open := standing.OpenOf(request.Erasure)
	event := request.Event{Name: request.OwnAct, Operator: operator}
	if operator != "" || open != nil && open.State == request.Scheduled {
		event.Name = request.CarryOut
	}
	switch {
	case err != nil:
		return "", nil, err
	case standing.Held:
		return "", nil, &domain.Error{Code: domain.ErrHeld, Op: "erase", Message: "a legal hold stands"}
	case number == "":
		open = nil
	case open != nil:
		number = open.Number
		if _, err := request.Transition(*open, event); err != nil {
			return "", nil, err
		}
	case operator == "" && standing.Entered >= DailyLimit:
		return "", nil, limited()
	}
	return string(number), func(ctx context.Context, result domain.ErasureResult, pending bool) error {
		event.At, event.Pending, event.Partly = r.now(), pending, len(result.RetainedFields) > 0
		for _, other := range standing.Open {
			if other.Number == number {
				continue
			}
			erased := request.Event{Name: request.Erased, At: event.At, Operator: operator}
			if _, err := r.change(ctx, s, other, erased, nil); err != nil {
				return err
			}
		}
		switch {
		case open != nil:
			_, err := r.change(ctx, s, *open, event, nil)
			return err
		case number != "":
			return r.append(ctx, s, r.fresh(ctx, number, id, request.Erasure), event)
		}
		return nil
	}, nil
}

// Exported is called in the session of an export that carries out a request, after the events of the export. A complete
// export is a fulfilled request, and fulfils the open requests for access and portability that the subject has made
// herself. An incomplete export becomes a request for access that waits for an operator, unless the subject has one.
func (r *Register) Exported(ctx context.Context, s ports.Session, id domain.SubjectID, incomplete bool) error {
	standing, err := r.standing(ctx, s, id, time.Time{})
	if err != nil {
		return err
	}
	own := r.fresh(ctx, request.Number(domain.RequestOf(ctx)), id, request.Access)
	if incomplete && standing.OpenOf(request.Access) == nil {
		received, err := r.rules.Receive(own)
		if err != nil {
			return err
		}
		_, added, err := s.Register().Requests.Add(ctx, received)
		switch {
		case err != nil:
			return err
		case added:
			return r.record(ctx, s, domain.EventRequestReceived, received, request.Event{})
		}
	}
	done := request.Event{Name: request.OwnAct, At: own.EnteredAt, Operator: domain.OperatorOf(ctx), Partly: incomplete}
	if err := r.append(ctx, s, own, done); err != nil || incomplete {
		return err
	}
	fulfils := []request.Kind{request.Access, request.Portability}
	for _, open := range standing.Open {
		if open.Channel != request.SelfService || !slices.Contains(fulfils, open.Kind) {
			continue
		}
		_, err := r.change(ctx, s, open, done, func(of *request.Request) { of.RefersTo = own.Number })
		if err != nil && !errors.Is(err, domain.ErrConflict) { // it has just been decided otherwise
			return err
		}
	}
	return nil
}

// Restricted is called in the session in which a restriction is placed for a request. The request is fulfilled.
func (r *Register) Restricted(ctx context.Context, s ports.Session, record domain.RestrictionRecord) error {
	own := r.fresh(ctx, request.Number(domain.RequestOf(ctx)), record.SubjectID, request.Restriction)
	if record.Purpose != nil && r.purposes.Declared() && r.purposes.Check(*record.Purpose) == nil {
		own.Purpose = *record.Purpose // another one may be a text of the subject
	}
	return r.append(ctx, s, own, request.Event{
		Name: request.OwnAct, At: own.EnteredAt, Operator: domain.OperatorOf(ctx),
	})
}

// Settled is called in the session in which the last outbox entry of an operation has succeeded or was discarded. If
// the operation is a request that is executing, the request is fulfilled, partly if one of its entries was discarded.
func (r *Register) Settled(ctx context.Context, s ports.Session, id domain.SubjectID, operationID string) error {
	number, err := request.ParseNumber(operationID)
	if r == nil || err != nil {
		return nil //nolint:nilerr // the operation is no request
	}
	of, err := s.Register().Requests.Find(ctx, number)
	if err != nil || of == nil || of.State != request.Executing {
		return err
	}
	trail, err := s.Audit().Trail(ctx, id)
	if err != nil {
		return err
	}
	discarded := slices.ContainsFunc(trail, func(event domain.AuditEvent) bool {
		return event.EventType == domain.EventErasureDiscarded && event.Payload[domain.PayloadOperationID] == operationID
	})
	_, err = r.change(ctx, s, *of, request.Event{Name: request.Settled, At: r.now(), Partly: discarded}, nil)
	return err
}

// fresh returns a new request for an act that is recorded with it.
func (r *Register) fresh(
	ctx context.Context, number request.Number, id domain.SubjectID, kind request.Kind,
) request.Request {
	now := r.now()
	own := request.Request{
		Number: number, SubjectID: id, Kind: kind, Channel: request.SelfService, VerifiedBy: request.Session,
		ReceivedAt: now, EnteredAt: now,
	}
	if domain.OperatorOf(ctx) != "" {
		own.Channel, own.VerifiedBy = request.Operator, ""
	}
	return own
}

// append records a request together with the act that carries it out.
func (r *Register) append(ctx context.Context, s ports.Session, own request.Request, act request.Event) error {
	received, err := r.rules.Receive(own)
	if err != nil {
		return err
	}
	done, err := r.rules.Apply(received, act)
	if err != nil {
		return err
	}
	done.Version = received.Version
	if err := s.Register().Requests.Append(ctx, done); err != nil {
		return err
	}
	if err := r.record(ctx, s, domain.EventRequestReceived, received, request.Event{}); err != nil {
		return err
	}
	return r.record(ctx, s, eventOf(act, done), done, act)
}
