package httpapi

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/ports"
)

// DefaultTimeout bounds a request as a whole: its body, the evidence of its failure, and the SubjectProvider where that
// heeds its context.
const DefaultTimeout = 30 * time.Second

// Config is what an API is made of. All fields are required but Timeout, Logger and Observer.
type Config struct {
	Sessions    ports.SessionFactory
	Consent     *consent.Ledger
	Restriction *restriction.Ledger
	Export      *export.Exporter
	Erasure     *erasure.Eraser
	DataMap     domain.DataMap // which every subject's id must fit
	Timeout     time.Duration  // of each request, its evidence included; 0 means DefaultTimeout
	Logger      *slog.Logger   // gets a line for each response of 500 and above; nil means slog.Default()
	Observer    ports.Observer // observes each request to an endpoint; nil means none
}

// API handles data-subject requests over HTTP. It is immutable and safe for concurrent use.
type API struct {
	config         Config
	hasRestriction bool
	tags           []string
	endpoints      []Endpoint
}

// New returns an API with the endpoints for consent, export and erasure. WithRestriction adds those for restriction.
// If the consent ledger has declared purposes, the API has the endpoint that lists all consents, and refuses other
// purposes.
//
// Returns domain.ErrConfiguration if a field is missing.
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
	return (&API{config: c, tags: []string{defaultTag}}).With(), nil
}

// Option adapts an API to one router.
type Option func(*API)

// WithSession takes the sessions of one router from f instead of Config.Sessions. A nil f changes nothing.
func WithSession(f ports.SessionFactory) Option {
	return func(a *API) {
		if f != nil {
			a.config.Sessions = f
		}
	}
}

// WithRestriction adds the endpoints for the restriction of processing (Art. 18 GDPR). They record and report
// restrictions. The application itself must obey a restriction, so it has to ask for the endpoints.
func WithRestriction() Option { return func(a *API) { a.hasRestriction = true } }

// defaultTag is the tag of every operation of the OpenAPI document where WithTags names none.
const defaultTag = "gdpr"

// WithTags puts the tags on every operation of the OpenAPI document, in the place of "gdpr". Without tags it changes
// nothing.
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

// With returns a copy of the API with the options applied. The API itself stays as it is.
func (a *API) With(options ...Option) *API {
	derived := *a
	for _, option := range options {
		option(&derived)
	}
	derived.endpoints = endpoints(derived.config.Consent.Purposes().Declared(), derived.hasRestriction)
	return &derived
}
