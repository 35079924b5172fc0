package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// source is the source of the consent and restriction records of the API.
const source = "api"

// Endpoint is one route of the API.
type Endpoint struct {
	Method      string // an adapter serves HEAD like GET, without the body
	Path        string // relative to the prefix; only its last segment may be a parameter, as in "/consent/{purpose}"
	OperationID string // names the endpoint in logs and in the OpenAPI document

	operate operation
	exports bool // the endpoint is the export, which has no operation: its result may be too large to be held
}

// operation checks the input of a request, then does its work in one session. It returns the result, which becomes the
// body of the response.
type operation func(*API, context.Context, domain.Subject, Request) (any, error)

// Endpoints lists the routes to be mounted. The order has no meaning.
func (a *API) Endpoints() []Endpoint { return slices.Clone(a.endpoints) }

func endpoints(hasPurposes, hasRestriction bool) []Endpoint {
	all := []Endpoint{
		{http.MethodPost, "/consent", "recordConsent", (*API).recordConsent, false},
		{http.MethodGet, "/consent/{purpose}", "getConsentStatus", (*API).consentStatus, false},
		{http.MethodGet, "/export", "exportPersonalData", nil, true},
		{http.MethodDelete, "/", "erasePersonalData", (*API).erase, false},
	}
	if hasPurposes {
		all = append(all, Endpoint{http.MethodGet, "/consent", "listConsentStatuses", (*API).consentStatuses, false})
	}
	if hasRestriction {
		all = append(all,
			Endpoint{http.MethodPost, "/restriction", "recordRestriction", (*API).recordRestriction, false},
			Endpoint{http.MethodGet, "/restriction", "getRestrictionStatus", (*API).restrictionStatus, false},
		)
	}
	return all
}

func (a *API) recordConsent(ctx context.Context, subject domain.Subject, r Request) (any, error) {
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
	faults := body.faults(decision.CheckAmong(a.config.Consent.Purposes()))
	if err := domain.Invalid("record consent", faults); err != nil {
		return nil, err
	}
	var record domain.ConsentRecord
	err = a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		record, err = a.config.Consent.Record(ctx, s, subject.ID, decision)
		return err
	})
	return &record, err
}

func (a *API) consentStatus(ctx context.Context, subject domain.Subject, r Request) (any, error) {
	purpose, faults := pathPurpose(r.Purpose, a.config.Consent.Purposes())
	if err := domain.Invalid("consent status", faults); err != nil {
		return nil, err
	}
	var status domain.ConsentStatus
	err := a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		status, err = a.config.Consent.Status(ctx, s, subject.ID, purpose)
		return err
	})
	return &status, err
}

func (a *API) consentStatuses(ctx context.Context, subject domain.Subject, _ Request) (any, error) {
	var statuses domain.ConsentStatuses
	err := a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		statuses, err = a.config.Consent.Statuses(ctx, s, subject.ID)
		return err
	})
	return &statuses, err
}

func (a *API) erase(ctx context.Context, subject domain.Subject, _ Request) (any, error) {
	var result domain.ErasureResult
	err := a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		result, err = a.config.Erasure.Erase(ctx, s, subject)
		return err
	})
	return &result, err
}

func (a *API) recordRestriction(ctx context.Context, subject domain.Subject, r Request) (any, error) {
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
	faults := body.faults(decision.CheckAmong(a.config.Restriction.Purposes()))
	if err := domain.Invalid("record restriction", faults); err != nil {
		return nil, err
	}
	var record domain.RestrictionRecord
	err = a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		record, err = a.config.Restriction.Record(ctx, s, subject.ID, decision)
		return err
	})
	return &record, err
}

func (a *API) restrictionStatus(ctx context.Context, subject domain.Subject, r Request) (any, error) {
	purpose, faults := queryPurpose(r.Query, a.config.Restriction.Purposes())
	if err := domain.Invalid("restriction status", faults); err != nil {
		return nil, err
	}
	var status domain.RestrictionStatus
	err := a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		status, err = a.config.Restriction.Status(ctx, s, subject.ID, purpose)
		return err
	})
	return &status, err
}
