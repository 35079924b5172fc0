package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/internal/turns"
	"github.com/habeas-data/habeas/ports"
)

// DefaultTimeout is the timeout of a request if Config.Timeout is 0. The timeout includes the time to read the body, to
// call the SubjectProvider, and to write the audit events that record a failure. The time of the SubjectProvider is
// bounded only if the provider returns when its context ends.
const DefaultTimeout = 30 * time.Second

// Config holds the dependencies and settings of an API. All fields except Timeout, Requests, Logger and
// Observer are required.
type Config struct {
	Sessions    ports.SessionFactory
	Consent     *consent.Ledger
	Restriction *restriction.Ledger
	Export      *export.Exporter
	Erasure     Eraser
	DataMap     datamap.DataMap // the API checks the id of each subject against it
	Timeout     time.Duration   // of each request, see DefaultTimeout; 0 means DefaultTimeout
	// Requests is the register of requests. With it, erasures, exports and new restrictions are recorded as requests, and
	// WithRequests can add the endpoints of the register. nil means that there is none.
	Requests *register.Register
	Logger   *slog.Logger   // gets a record for each response with status 500 or above; nil means slog.Default()
	Observer ports.Observer // observes each request to an endpoint; nil means that requests are not observed
}

// Eraser carries out the endpoint of the erasure, such as an erasure.Eraser. It erases the subject in the session, and
// its errors have the meaning of those of erasure.Eraser.Erase.
type Eraser interface {
	Erase(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ErasureResult, error)
}

// API handles data-subject requests over HTTP. It is immutable and safe for concurrent use.
type API struct {
	config    Config
	tags      []string
	endpoints []Endpoint
	exports   *turns.Turns // admits one export of each person
}

// New returns an API with the endpoints for consent, export and erasure. The option WithRestriction adds the endpoints
// for restriction. If the consent ledger has a list of declared purposes, the API also has an endpoint that lists the
// consents of a subject for all purposes. Requests for a purpose that is not in that list are refused, unless a consent
// or a restriction for it is in force. The subject can then read it, and withdraw or lift it.
//
// New returns domain.ErrConfiguration if a required field is missing or Timeout is negative.
func New(c Config) (*API, error) {
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"Sessions", c.Sessions == nil},
		{"Consent", c.Consent == nil},
		{"Restriction", c.Restriction == nil},
		{"Export", c.Export == nil},
		{"Erasure", c.Erasure == nil},
		{"DataMap", c.DataMap.IsZero()},
	} {
		if field.missing {
			return nil, domain.Misconfigured("http api", field.name+" is missing")
		}
	}
	if c.Timeout < 0 {
		return nil, domain.Misconfigured("http api", "Timeout is negative")
	}
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	a := &API{config: c, tags: []string{defaultTag}, endpoints: standard, exports: &turns.Turns{}}
	if c.Consent.Purposes().Declared() {
		return a.With(with(declaredPurposes)), nil
	}
	return a, nil
}

// Option changes a setting of an API for one router.
type Option func(*API)

// WithSession sets the session factory of an API, in place of Config.Sessions. For example, two routers of one API can
// use different databases. A nil f changes nothing.
func WithSession(f ports.SessionFactory) Option {
	return func(a *API) {
		if f != nil {
			a.config.Sessions, a.exports = f, &turns.Turns{} // the ids of another database are of other people
		}
	}
}

// WithRestriction adds the endpoints for the restriction of processing (Art. 18 GDPR). These endpoints record
// restrictions and return their status, but do not enforce a restriction. Use this option only if the application
// checks the status before it processes data.
func WithRestriction() Option { return with(restrictions) }

// defaultTag is the tag of every operation of the OpenAPI document, unless WithTags replaces it.
const defaultTag = "gdpr"

// WithTags replaces the tag "gdpr" of every operation of the OpenAPI document by the given tags. It ignores duplicates.
// WithTags() changes nothing.
func WithTags(tags ...string) Option {
	var distinct []string
	for _, tag := range tags {
		if !slices.Contains(distinct, tag) {
			distinct = append(distinct, tag)
		}
	}
	return func(a *API) {
		if distinct != nil {
			a.tags = distinct
		}
	}
}

// With returns a copy of the API with the options applied. It does not change the API itself.
func (a *API) With(options ...Option) *API {
	derived := *a
	for _, option := range options {
		option(&derived)
	}
	return &derived
}
