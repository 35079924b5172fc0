package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

var requests = []Endpoint{
	{http.MethodPost, "/requests", "openRequest", (*API).openRequest, nil},
	{http.MethodGet, "/requests", "listRequests", (*API).listRequests, nil},
	{http.MethodGet, "/requests/{number}", "getRequest", (*API).findRequest, nil},
	{http.MethodDelete, "/requests/{number}", "withdrawRequest", (*API).withdrawRequest, nil},
}

// WithRequests adds the endpoints of the register of requests. They need Config.Requests: without it, they fail.
func WithRequests() Option { return with(requests) }

// asRequest returns a context with the number of a new request, if there is a register.
func (a *API) asRequest(ctx context.Context) context.Context {
	if a.config.Requests == nil {
		return ctx
	}
	return a.config.Requests.Begin(ctx)
}

func (a *API) register() (*register.Register, error) {
	if a.config.Requests == nil {
		return nil, domain.Misconfigured("http api", "WithRequests needs the register of requests: set Requests")
	}
	return a.config.Requests, nil
}

// created is the result of an operation that has made a resource. Location is relative to the path of the request.
type created struct {
	resource any
	location string
}

func (a *API) openRequest(subject domain.Subject, r Request, result *any) (operation, error) {
	known, err := a.register()
	if err != nil {
		return nil, err
	}
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	opening := register.Opening{
		SubjectID: subject.ID, Channel: request.SelfService, Kind: request.Kind(body.text("kind")),
	}
	return func(ctx context.Context, s ports.Session) error {
		opened, isNew, err := known.Open(ctx, s, opening)
		if *result = known.Answer(opened); isNew {
			*result = created{*result, "requests/" + string(opened.Number)}
		}
		return err
	}, domain.Invalid("open request", body.faults(nil))
}

func (a *API) listRequests(subject domain.Subject, _ Request, result *any) (operation, error) {
	known, err := a.register()
	return func(ctx context.Context, s ports.Session) error {
		all, err := known.Of(ctx, s, subject.ID)
		answers := make([]register.Answer, len(all))
		for i, one := range all {
			answers[i] = known.Answer(one)
		}
		*result = struct {
			SubjectID domain.SubjectID  `json:"subject_id"`
			Requests  []register.Answer `json:"requests"`
		}{subject.ID, answers}
		return err
	}, err
}

func (a *API) findRequest(subject domain.Subject, r Request, result *any) (operation, error) {
	return a.withRequest(subject, r, result, (*register.Register).FindOf)
}

func (a *API) withdrawRequest(subject domain.Subject, r Request, result *any) (operation, error) {
	return a.withRequest(subject, r, result, (*register.Register).Withdraw)
}

// withRequest calls a method of the register with the number in the path.
func (a *API) withRequest(
	subject domain.Subject, r Request, result *any,
	call func(*register.Register, context.Context, ports.Session, domain.SubjectID, request.Number) (request.Request,
		error),
) (operation, error) {
	known, err := a.register()
	if err != nil {
		return nil, err
	}
	text, err := url.PathUnescape(r.Parameter)
	if err != nil {
		return nil, noResource
	}
	number, err := request.ParseNumber(text)
	if err != nil {
		return nil, noResource
	}
	return func(ctx context.Context, s ports.Session) error {
		found, err := call(known, ctx, s, subject.ID, number)
		if errors.Is(err, domain.ErrConflict) {
			return problem(http.StatusConflict, "The request has another state: it is "+string(found.State)+".")
		}
		*result = known.Answer(found)
		return err
	}, nil
}
