// Package newsletter is the complete example of docs/writing-an-adapter.md: a resolver for a newsletter service.
package newsletter

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/habeas-data/habeas/domain"
)

// Resolver exports and erases subscribers of the newsletter service.
type Resolver struct {
	BaseURL string // without a slash at the end
	Token   string
	Client  *http.Client // must not follow redirects; see NewResolver
}

// NewResolver returns a resolver for the service under the URL.
func NewResolver(baseURL, token string) *Resolver {
	never := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Resolver{BaseURL: baseURL, Token: token, Client: &http.Client{CheckRedirect: never}}
}

// fields lists the exported fields of a subscriber. CoveredSurface and ExportSubject use the same list.
var fields = []domain.CoveredField{
	{Field: "email", Category: domain.CategoryContact},
	{Field: "language", Category: domain.CategoryBehavioral},
}

// Name returns the name of the resolver. The refs of this service have this name as their Kind.
func (r *Resolver) Name() string { return "newsletter" }

// CoveredSurface lists the exported and erased fields.
func (r *Resolver) CoveredSurface() domain.CoveredSurface {
	return domain.CoveredSurface{Fields: fields, Exclusions: []string{"which issues were opened"}}
}

// ExportSubject reads the subscriber.
func (r *Resolver) ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	var subscriber map[string]any
	known, err := r.call(ctx, http.MethodGet, ref, "", &subscriber)
	if err != nil || !known {
		return nil, err
	}
	var records []domain.ExportRecord
	for _, field := range fields {
		if value, ok := subscriber[field.Field].(string); ok {
			records = append(records, domain.ExportRecord{
				Field: field.Field, Row: "subscriber", Category: field.Category, Value: value,
			})
		}
	}
	return records, nil
}

// EraseSubject deletes the subscriber.
func (r *Resolver) EraseSubject(ctx context.Context, ref domain.SubjectRef, entryID string) (bool, error) {
	known, err := r.call(ctx, http.MethodDelete, ref, entryID, nil)
	return err == nil && !known, err
}

// call sends one request about a subscriber, and reports whether the service knows this subscriber.
func (r *Resolver) call(ctx context.Context, method string, ref domain.SubjectRef, key string, into any) (bool, error) {
	address := r.BaseURL + "/subscribers/" + url.PathEscape(ref.Value)
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil || ref.Value == "." || ref.Value == ".." { // PathEscape does not escape dots: they would change the path
		return false, &domain.ResolverError{Resolver: r.Name(), Message: "the ref is not valid in a URL"}
	}
	request.Header.Set("Authorization", "Bearer "+r.Token)
	request.Header.Set("Idempotency-Key", key)
	response, err := r.Client.Do(request)
	if err != nil { // the text of err contains the URL with the ref, so only the error of the context is wrapped
		return false, &domain.RetryLater{Resolver: r.Name(), Message: method + " got no response", Err: ctx.Err()}
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case status == http.StatusNotFound:
		return false, nil
	case status/100 == 2:
		if into != nil && json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(into) != nil {
			return false, &domain.RetryLater{Resolver: r.Name(), Message: "the response is not JSON", Err: ctx.Err()}
		}
		return true, nil
	case status/100 == 4 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout:
		return false, &domain.ResolverError{Resolver: r.Name(), Message: method + " got status " + strconv.Itoa(status)}
	default:
		return false, &domain.RetryLater{Resolver: r.Name(), Message: method + " got status " + strconv.Itoa(status)}
	}
}
