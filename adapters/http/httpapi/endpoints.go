package httpapi

import (
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/ports"
)

// source is the value of the field "source" in the consent and restriction records that the API writes.
const source = "api"

// Endpoint is one route of the API.
type Endpoint struct {
	Method      string // for GET, an adapter also serves HEAD, without the body
	Path        string // relative to the prefix; only its last segment may be a parameter, as in "/consent/{purpose}"
	OperationID string // names the endpoint in logs and in the OpenAPI document

	// accept checks the input of a request, before a session is opened. It returns the operation to run in the session,
	// which sets the result. The endpoint of an export has a format instead, because the result may be too large to hold
	// in memory.
	accept func(a *API, subject domain.Subject, r Request, result *any) (operation, error)
	format *exportFormat
}

// exportFormat is a format of exports.
type exportFormat struct {
	encode func(w io.Writer) export.Encoder
	header http.Header // of the response
}

var asJSON = &exportFormat{export.NewJSON, successHeader}

// operation does the work of a request in one session. A session factory may call an operation more than once, because
// it may retry.
type operation func(context.Context, ports.Session) error

// Endpoints returns the endpoints of the API, for adapters that register each endpoint with their framework. The order
// has no meaning.
func (a *API) Endpoints() []Endpoint { return slices.Clone(a.endpoints) }

// These are the groups of endpoints. An API has all endpoints of a group, or none.
var (
	standard = []Endpoint{
		{http.MethodPost, "/consent", "recordConsent", (*API).recordConsent, nil},
		{http.MethodGet, "/consent/{purpose}", "getConsentStatus", (*API).consentStatus, nil},
		{http.MethodGet, "/export", "exportPersonalData", nil, asJSON},
		{http.MethodDelete, "/", "erasePersonalData", (*API).erase, nil},
	}
	declaredPurposes = []Endpoint{
		{http.MethodGet, "/consent", "listConsentStatuses", (*API).consentStatuses, nil},
	}
	restrictions = []Endpoint{
		{http.MethodPost, "/restriction", "recordRestriction", (*API).recordRestriction, nil},
		{http.MethodGet, "/restriction", "getRestrictionStatus", (*API).restrictionStatus, nil},
	}
)

// with returns an option that adds a group of endpoints, once.
func with(group []Endpoint) Option {
	return func(a *API) {
		isThere := slices.ContainsFunc(a.endpoints, func(e Endpoint) bool { return e.OperationID == group[0].OperationID })
		if !isThere {
			a.endpoints = slices.Concat(a.endpoints, group)
		}
	}
}

func (a *API) recordConsent(subject domain.Subject, r Request, result *any) (operation, error) {
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
	return func(ctx context.Context, s ports.Session) (err error) {
		*result, err = a.config.Consent.Record(ctx, s, subject.ID, decision)
		return err
	}, domain.Invalid("record consent", body.faults(decision.CheckAmong(a.config.Consent.Purposes())))
}

func (a *API) consentStatus(subject domain.Subject, r Request, result *any) (operation, error) {
	purpose, faults := pathPurpose(r.Parameter)
	return func(ctx context.Context, s ports.Session) (err error) {
		*result, err = a.config.Consent.Status(ctx, s, subject.ID, purpose)
		return err
	}, domain.Invalid("consent status", faults)
}

func (a *API) consentStatuses(subject domain.Subject, _ Request, result *any) (operation, error) {
	return func(ctx context.Context, s ports.Session) (err error) {
		*result, err = a.config.Consent.Statuses(ctx, s, subject.ID)
		return err
	}, nil
}

func (a *API) erase(subject domain.Subject, _ Request, result *any) (operation, error) {
	return func(ctx context.Context, s ports.Session) (err error) {
		*result, err = a.config.Erasure.Erase(a.asRequest(ctx), s, subject)
		return err
	}, nil
}

func (a *API) recordRestriction(subject domain.Subject, r Request, result *any) (operation, error) {
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
	return func(ctx context.Context, s ports.Session) (err error) {
		*result, err = a.config.Restriction.Record(a.asRequest(ctx), s, subject.ID, decision)
		return err
	}, domain.Invalid("record restriction", body.faults(decision.CheckAmong(a.config.Restriction.Purposes())))
}

func (a *API) restrictionStatus(subject domain.Subject, r Request, result *any) (operation, error) {
	purpose, faults := queryPurpose(r.Query)
	return func(ctx context.Context, s ports.Session) (err error) {
		*result, err = a.config.Restriction.Status(ctx, s, subject.ID, purpose)
		return err
	}, domain.Invalid("restriction status", faults)
}
