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
}

// operation is what an endpoint does in the one session of its request. It may run more than once, because a
// session factory may retry.
type operation func(context.Context, ports.Session, domain.Subject) (result any, err error)

// Endpoints lists the routes to be mounted. The order has no meaning.
func (a *API) Endpoints() []Endpoint {
	endpoints := []Endpoint{
		{http.MethodPost, "/consent", "recordConsent", (*API).recordConsent},
		{http.MethodGet, "/consent/{purpose}", "getConsentStatus", (*API).consentStatus},
		{http.MethodGet, "/export", "exportPersonalData", (*API).export},
		{http.MethodDelete, "/", "erasePersonalData", (*API).erase},
	}
	if a.hasRestriction {
		endpoints = append(endpoints,
			Endpoint{http.MethodPost, "/restriction", "recordRestriction", (*API).recordRestriction},
			Endpoint{http.MethodGet, "/restriction", "getRestrictionStatus", (*API).restrictionStatus},
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
	return func(ctx context.Context, s ports.Session, subject domain.Subject) (any, error) {
		return a.config.Consent.Record(ctx, s, subject.ID, decision)
	}, domain.Invalid("record consent", body.faults(decision.Check()))
}

func (a *API) consentStatus(r Request) (operation, error) {
	purpose, faults := pathPurpose(r.Purpose)
	return func(ctx context.Context, s ports.Session, subject domain.Subject) (any, error) {
		return a.config.Consent.Status(ctx, s, subject.ID, purpose)
	}, domain.Invalid("consent status", faults)
}

func (a *API) export(Request) (operation, error) {
	return func(ctx context.Context, s ports.Session, subject domain.Subject) (any, error) {
		return a.config.Export.Export(ctx, s, subject)
	}, nil
}

func (a *API) erase(Request) (operation, error) {
	return func(ctx context.Context, s ports.Session, subject domain.Subject) (any, error) {
		return a.config.Erasure.Erase(ctx, s, subject)
	}, nil
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
	return func(ctx context.Context, s ports.Session, subject domain.Subject) (any, error) {
		return a.config.Restriction.Record(ctx, s, subject.ID, decision)
	}, domain.Invalid("record restriction", body.faults(decision.Check()))
}

func (a *API) restrictionStatus(r Request) (operation, error) {
	purpose, faults := queryPurpose(r.Query)
	return func(ctx context.Context, s ports.Session, subject domain.Subject) (any, error) {
		return a.config.Restriction.Status(ctx, s, subject.ID, purpose)
	}, domain.Invalid("restriction status", faults)
}
