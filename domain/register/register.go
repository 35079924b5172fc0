// Package register keeps the register of requests: which requests of data subjects came in, when their answers are due,
// and what was decided. The rules are those of package request, which is pure. The register records each event of a
// request in the audit trail, with the number of the request as the id of the operation.
//
// The services of the rights do not know the register. They call its functions Erasing, Exported and Restricted in
// their sessions, so that a request and the act that fulfils it commit together.
package register

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// Config has the dependencies of a Register. Clock, IDs, Secrets and Rules.Zone are required.
type Config struct {
	Clock      ports.Clock
	IDs        ports.IDSource // of audit events
	Secrets    ports.Secrets
	Rules      request.Rules
	Purposes   domain.Purposes   // the purposes that a request may name; default none
	Controller domain.Controller // answers that refuse something name its authority; default none
}

// DailyLimit is the maximum number of requests that a subject can make herself in a day of the controller's zone: those
// of Register.Open and erasures. Exports and restrictions that are carried out at once do not count.
const DailyLimit = 10

// Register keeps the register. A nil Register has no requests: Erasing, Settled and Registered then do nothing. It is
// safe for concurrent use. Each call works in the session that it receives.
type Register struct {
	audit      audit.Stamper
	secrets    ports.Secrets
	rules      request.Rules
	purposes   domain.Purposes
	controller domain.Controller
}

// New returns a register. It returns domain.ErrConfiguration if a required field is missing.
func New(c Config) (*Register, error) {
	if c.Clock == nil || c.IDs == nil || c.Secrets == nil || c.Rules.Zone == nil {
		return nil, domain.Misconfigured("register", "Clock, IDs, Secrets and Rules.Zone are required")
	}
	if err := c.Controller.Check(); err != nil {
		return nil, err
	}
	return &Register{
		audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.Secrets, c.Rules, c.Purposes, c.Controller,
	}, nil
}

// Begin returns a context with the number of a new request, for an act that is recorded with its request. An act
// without a number is no request.
func (r *Register) Begin(ctx context.Context) context.Context {
	return domain.WithRequest(ctx, string(r.number()))
}

func (r *Register) number() request.Number { return request.NewNumber(r.secrets.Number()) }

func (r *Register) now() time.Time { return domain.Instant(r.audit.Clock.Now()) }

// today returns the begin of the present day.
func (r *Register) today(now time.Time) time.Time {
	return request.DayOf(now, r.rules.Zone).AddDays(-1).End(r.rules.Zone)
}

// change applies an event to a stored request, stores the result, and records the event. It does nothing if the event
// changes nothing.
func (r *Register) change(
	ctx context.Context, s ports.Session, before request.Request, e request.Event, edit func(*request.Request),
) (request.Request, error) {
	after, err := r.rules.Apply(before, e)
	if err != nil || after.Version == before.Version {
		return after, err
	}
	if edit != nil {
		edit(&after)
	}
	if err := s.Register().Requests.Update(ctx, after); err != nil {
		return before, err
	}
	return after, r.record(ctx, s, eventOf(e, after), after, e)
}

// standing returns the situation of the subject. It withdraws open requests of an earlier life of the id, so that
// nobody gets the request of another person. The reading of lives is necessary only if a request is open.
func (r *Register) standing(
	ctx context.Context, s ports.Session, id domain.SubjectID, since time.Time,
) (request.Standing, error) {
	standing, err := s.Register().Requests.Standing(ctx, id, since)
	if err != nil || len(standing.Open) == 0 {
		return standing, err
	}
	own, err := s.Register().Requests.Of(ctx, id)
	if err != nil {
		return standing, err
	}
	open := standing.Open
	standing.Open = nil
	for _, one := range open {
		if slices.ContainsFunc(own, func(of request.Request) bool { return of.Number == one.Number }) {
			standing.Open = append(standing.Open, one)
			continue
		}
		if _, err := r.change(ctx, s, one, request.Event{Name: request.EarlierLife, At: r.now()}, nil); err != nil {
			return standing, err
		}
	}
	return standing, nil
}

// Registered withdraws the open requests of a person whose id is given to somebody else now. Call it before
// lives.Register, in the same session.
func (r *Register) Registered(ctx context.Context, s ports.Session, id domain.SubjectID) error {
	if r == nil {
		return nil
	}
	standing, err := s.Register().Requests.Standing(ctx, id, time.Time{})
	if err != nil {
		return err
	}
	for _, open := range standing.Open {
		if _, err := r.change(ctx, s, open, request.Event{Name: request.EarlierLife, At: r.now()}, nil); err != nil {
			return err
		}
	}
	return nil
}

// record appends the audit event of a request.
func (r *Register) record(
	ctx context.Context, s ports.Session, eventType domain.EventType, of request.Request, e request.Event,
) error {
	payload := domain.Payload{
		"kind": string(of.Kind), "state": string(of.State), "channel": string(of.Channel),
		"due_on": string(of.DueOn), "strict_due_on": string(of.StrictDueOn),
	}
	for name, text := range map[string]string{
		"state_reason": of.StateReason, "reason": cmp.Or(string(e.Reason), string(e.Extension)),
		"ground": string(e.Ground), "code": string(e.Hand), "cause": string(e.Name), "refers_to": string(of.RefersTo),
	} {
		if text != "" {
			payload[name] = text
		}
	}
	for name, at := range map[string]time.Time{
		"at": e.At, "received_at": of.ReceivedAt, "execute_after": of.ExecuteAfter, "lapses_at": of.LapsesAt,
	} {
		if !at.IsZero() {
			payload[name] = at.Format(time.RFC3339Nano)
		}
	}
	if of.Partly {
		payload["partly"] = true
	}
	if of.SuspendedDays > 0 {
		payload["suspended_days"] = of.SuspendedDays
	}
	subject := of.SubjectID
	if subject.IsZero() {
		var err error
		if subject, err = domain.NewSubjectID(string(of.Number)); err != nil {
			return err
		}
	}
	event := r.audit.Operation(ctx, string(of.Number)).Event(eventType, subject, payload)
	return s.Audit().Append(ctx, event)
}

// eventOf returns the type of the audit event for an event that has led to the request.
func eventOf(e request.Event, after request.Request) domain.EventType {
	if named, ok := eventTypes[e.Name]; ok {
		return named
	}
	return stateTypes[after.State]
}

// eventTypes has the events that do not only lead to a state.
var eventTypes = map[request.EventName]domain.EventType{
	request.Ask:         domain.EventRequestAsked,
	request.Delivered:   domain.EventNoticeSent,
	request.Undelivered: domain.EventNoticeFailed,
	request.Answered:    domain.EventRequestAnswered,
	request.Extend:      domain.EventRequestExtended,
	request.HoldLifted:  domain.EventRequestReleased,
}

var stateTypes = map[request.State]domain.EventType{
	request.Received:  domain.EventRequestAnswered, // a question about the scope, to which nobody has replied
	request.Scheduled: domain.EventRequestScheduled,
	request.OnHold:    domain.EventRequestHeld,
	request.Executing: domain.EventRequestExecuting,
	request.Fulfilled: domain.EventRequestFulfilled,
	request.Refused:   domain.EventRequestRefused,
	request.Withdrawn: domain.EventRequestWithdrawn,
	request.Lapsed:    domain.EventRequestLapsed,
}
