package httpapi

import (
	"context"
	"net/http"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// source is what consent and restriction records say about where they came from.
const source = "api"

// Endpoint is one route of the API.
type Endpoint struct {
	Method      string // an adapter serves HEAD like GET, without the body
	Path        string // relative to the prefix; only its last segment may be a parameter, as in "/consent/{purpose}"
	OperationID string // names the endpoint in logs and in the OpenAPI document

	// read takes the input out of the request and checks it, before any session is opened.
	read func(*API, Request) (operation, error)

	streams bool // the answer may be too large to be held
}

// operation is what an endpoint does in the one session of its request, and writes into the answer. It may run more than
// once, because a session factory may retry.
type operation func(context.Context, ports.Session, domain.Subject, *answer) error

// answering is an operation that has one result.
func answering[T any](operate func(context.Context, ports.Session, domain.Subject) (T, error)) operation {
	return func(ctx context.Context, s ports.Session, subject domain.Subject, out *answer) error {
		result, err := operate(ctx, s, subject)
		if err != nil {
			return err
		}
		out.tail, err = encode(result)
		return err
	}
}

// Endpoints lists the routes to be mounted. The order has no meaning.
func (a *API) Endpoints() []Endpoint {
	endpoints := []Endpoint{
		{http.MethodPost, "/consent", "recordConsent", (*API).recordConsent, false},
		{http.MethodGet, "/consent/{purpose}", "getConsentStatus", (*API).consentStatus, false},
		{http.MethodGet, "/export", "exportPersonalData", (*API).export, true},
		{http.MethodDelete, "/", "erasePersonalData", (*API).erase, false},
	}
	if a.config.Consent.Purposes().Declared() {
		endpoints = append(endpoints,
			Endpoint{http.MethodGet, "/consent", "listConsentStatuses", (*API).consentStatuses, false})
	}
	if a.hasRestriction {
		endpoints = append(endpoints,
			Endpoint{http.MethodPost, "/restriction", "recordRestriction", (*API).recordRestriction, false},
			Endpoint{http.MethodGet, "/restriction", "getRestrictionStatus", (*API).restrictionStatus, false},
		)
	}
	return endpoints
}

func (a *API) recordConsent(r Request) (operation, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	decision := domain.ConsentDecision{
		Granted:       body.boolean("granted"),
		PolicyVersion: body.text("policy_version"),
		Purpose:       body.text("purpose"),
		Source:        source,
	}
	return answering(func(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ConsentRecord, error) {
		return a.config.Consent.Record(ctx, s, subject.ID, decision)
	}), domain.Invalid("record consent", body.faults(decision.CheckAmong(a.config.Consent.Purposes())))
}

func (a *API) consentStatus(r Request) (operation, error) {
	purpose, faults := pathPurpose(r.Purpose, a.config.Consent.Purposes())
	return answering(func(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ConsentStatus, error) {
		return a.config.Consent.Status(ctx, s, subject.ID, purpose)
	}), domain.Invalid("consent status", faults)
}

func (a *API) consentStatuses(Request) (operation, error) {
	return answering(func(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ConsentStatuses, error) {
		return a.config.Consent.Statuses(ctx, s, subject.ID)
	}), nil
}

func (a *API) erase(Request) (operation, error) {
	return answering(a.config.Erasure.Erase), nil
}

func (a *API) recordRestriction(r Request) (operation, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	decision := domain.RestrictionDecision{
		Restricted: body.boolean("restricted"),
		Purpose:    body.optionalText("purpose"),
		Reason:     body.optionalText("reason"),
		Source:     source,
	}
	return answering(func(ctx context.Context, s ports.Session, subject domain.Subject) (domain.RestrictionRecord, error) {
		return a.config.Restriction.Record(ctx, s, subject.ID, decision)
	}), domain.Invalid("record restriction", body.faults(decision.CheckAmong(a.config.Restriction.Purposes())))
}

func (a *API) restrictionStatus(r Request) (operation, error) {
	purpose, faults := queryPurpose(r.Query, a.config.Restriction.Purposes())
	return answering(func(ctx context.Context, s ports.Session, subject domain.Subject) (domain.RestrictionStatus, error) {
		return a.config.Restriction.Status(ctx, s, subject.ID, purpose)
	}), domain.Invalid("restriction status", faults)
}
