// Package newsletter is a resolver for a newsletter service. docs/writing-a-resolver.md explains it.
package newsletter

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Resolver exports and erases subscribers of the newsletter service.
type Resolver struct {
	BaseURL string // without a slash at the end
	Token   string
	Client  *http.Client // must not follow redirects; see NewResolver
}

// NewResolver returns a resolver for the service whose API is at baseURL.
func NewResolver(baseURL, token string) *Resolver {
	never := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Resolver{BaseURL: baseURL, Token: token, Client: &http.Client{CheckRedirect: never}}
}

// fields lists the exported fields of a subscriber. CoveredSurface and export use the same list.
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
	return r.export(ctx, ref.Value)
}

// EraseSubject deletes the subscriber.
func (r *Resolver) EraseSubject(ctx context.Context, ref domain.SubjectRef, call domain.ErasureCall) (bool, error) {
	known, err := r.erase(ctx, ref.Value, call, call.EntryID)
	return err == nil && !known, err
}

// erase deletes the subscriber with the address, unless someone has subscribed with this address after the erasure.
func (r *Resolver) erase(ctx context.Context, address string, call domain.ErasureCall, key string) (bool, error) {
	known, err := r.check(ctx, address, call)
	if err != nil || !known {
		return known, err
	}
	return r.send(ctx, http.MethodDelete, address, key, nil, nil)
}

// check reports whether the service knows the address. It returns domain.ErrSpared if the subscriber is a new one.
func (r *Resolver) check(ctx context.Context, address string, call domain.ErasureCall) (known bool, err error) {
	var subscriber struct {
		SubscribedAt time.Time `json:"subscribed_at"`
	}
	known, err = r.send(ctx, http.MethodGet, address, "", nil, &subscriber)
	if err == nil && call.IsLater(subscriber.SubscribedAt) {
		err = domain.ErrSpared
	}
	return known, err
}

// export returns one record for each field of the subscriber with the address.
func (r *Resolver) export(ctx context.Context, address string) (records []domain.ExportRecord, err error) {
	var subscriber map[string]any
	known, err := r.send(ctx, http.MethodGet, address, "", nil, &subscriber)
	if err != nil || !known {
		return nil, err
	}
	for _, field := range fields {
		if value, ok := subscriber[field.Field].(string); ok {
			record := domain.ExportRecord{Field: field.Field, Row: address, Category: field.Category, Value: value}
			records = append(records, record)
		}
	}
	return records, nil
}

// send sends one request about a subscriber, and reports whether the service knows this subscriber. If body is not nil,
// send sends it as JSON. If into is not nil, send decodes the JSON of the response into this pointer.
func (r *Resolver) send(ctx context.Context, method, address, key string, body, into any) (known bool, err error) {
	var content []byte
	if body != nil {
		content, err = json.Marshal(body)
	}
	target := r.BaseURL + "/subscribers/" + url.PathEscape(address)
	request, invalid := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(content))
	// "." and ".." are refused: PathEscape does not escape dots, so they would change the path of the URL.
	if err != nil || invalid != nil || address == "." || address == ".." {
		return false, &domain.ResolverError{Resolver: r.Name(), Message: "no request can be made of the ref and the body"}
	}
	request.Header.Set("Authorization", "Bearer "+r.Token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := r.Client.Do(request)
	if err != nil { // the text of err contains the URL with the address, so only the error of the context is wrapped
		return false, &domain.RetryLaterError{Resolver: r.Name(), Message: method + " got no response", Err: ctx.Err()}
	}
	defer response.Body.Close()
	later := &domain.RetryLaterError{
		Resolver: r.Name(), Message: method + " got status " + strconv.Itoa(response.StatusCode),
		After: retryAfter(response), Err: ctx.Err(),
	}
	received := json.NewDecoder(io.LimitReader(response.Body, 1<<20))
	switch status := response.StatusCode; {
	case status == http.StatusNotFound:
		var problem struct{ Error string }
		if received.Decode(&problem) != nil || problem.Error != "unknown subscriber" {
			return false, later // not from the service: a proxy or a wrong BaseURL
		}
		return false, nil
	case status/100 == 2:
		if into != nil && received.Decode(into) != nil {
			return false, later
		}
		return true, nil
	case status/100 == 4 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout:
		return false, &domain.ResolverError{Resolver: r.Name(), Message: later.Message}
	default:
		return false, later
	}
}

// retryAfter returns the wait that the service requests in seconds, or 0.
func retryAfter(response *http.Response) time.Duration {
	seconds, _ := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 32) // returns 0 for any other text
	return time.Duration(seconds) * time.Second
}
