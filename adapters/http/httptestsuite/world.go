package httptestsuite

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/ports"
)

// world is the environment of one test case: a running server, its store, and a client.
type world struct {
	golden   func(name, body string)
	store    *memory.Store
	sessions *sessions
	client   *http.Client
	host     string
	prefix   string
}

// open serves the complete API at /me.
func (h Harness) open(t testing.TB) *world {
	t.Helper()
	return h.openAt(t, "/me", httpapi.Config{}, httpapi.WithRestriction())
}

// openAt starts a server with the API under the prefix. The API has the given configuration and options.
func (h Harness) openAt(t testing.TB, prefix string, config httpapi.Config, options ...httpapi.Option) *world {
	t.Helper()
	return h.openAmong(t, domain.Purposes{}, prefix, config, options...)
}

// openAmong serves the API with declared purposes.
func (h Harness) openAmong(
	t testing.TB, purposes domain.Purposes, prefix string, config httpapi.Config, options ...httpapi.Option,
) *world {
	t.Helper()
	dataMap, err := newDataMap()
	require(t, err)
	store, err := memory.New(dataMap, memory.Options{})
	require(t, err)
	for _, seed := range rows {
		require(t, store.Insert(seed.table, seed.row))
	}
	w := &world{golden: h.golden, store: store, sessions: &sessions{SessionFactory: store}, prefix: prefix}
	api, err := newAPI(w.sessions, dataMap, purposes, config)
	require(t, err)

	server, err := url.Parse(h.Serve(t, api.With(options...), prefix))
	if err != nil || server.Scheme != "http" || server.Host == "" || server.Path != "" {
		t.Fatalf("Serve must return a URL such as http://127.0.0.1:40001")
	}
	w.host = server.Host
	w.client = newClient(t, 4) // its cleanup runs before the cleanup of the server
	return w
}

// inSession runs fn in a session of the store, without the errors and delays that a test has set in w.sessions.
func (w *world) inSession(t testing.TB, fn func(ctx context.Context, s ports.Session) error) {
	t.Helper()
	require(t, w.sessions.SessionFactory.Do(t.Context(), fn))
}

// inStore runs fn in a session of the store, as inSession does, and returns the result of fn.
func inStore[T any](t testing.TB, w *world, fn func(ctx context.Context, s ports.Session) (T, error)) (value T) {
	t.Helper()
	w.inSession(t, func(ctx context.Context, s ports.Session) (err error) {
		value, err = fn(ctx, s)
		return err
	})
	return value
}

func subjectID(t testing.TB, subject string) domain.SubjectID {
	t.Helper()
	id, err := domain.NewSubjectID(subject)
	require(t, err)
	return id
}

// trail returns the audit events of a subject in the store.
func (w *world) trail(t testing.TB, subject string) []domain.AuditEvent {
	t.Helper()
	return inStore(t, w, func(ctx context.Context, s ports.Session) ([]domain.AuditEvent, error) {
		return s.Audit().Trail(ctx, subjectID(t, subject))
	})
}

// events returns the number of audit events of a subject that have the given type.
func (w *world) events(t testing.TB, subject string, of domain.EventType) (n int) {
	t.Helper()
	for _, event := range w.trail(t, subject) {
		if event.EventType == of {
			n++
		}
	}
	return n
}

// hasNoEventsOf checks that the store has no audit events of the subject.
func (w *world) hasNoEventsOf(t testing.TB, subject string) {
	t.Helper()
	events := w.trail(t, subject)
	assert(t, len(events) == 0, "the store has %d events of a subject that the provider has not named", len(events))
}

// hasOpenedNone checks that no request has opened a session.
func (w *world) hasOpenedNone(t testing.TB) {
	t.Helper()
	opened := w.sessions.count()
	assert(t, opened == 0, "%d sessions were opened, want none", opened)
}

// consented returns the consent records of a subject for a purpose in the store, those before an erasure included.
func (w *world) consented(t testing.TB, subject, purpose string) []domain.ConsentRecord {
	t.Helper()
	return inStore(t, w, func(ctx context.Context, s ports.Session) ([]domain.ConsentRecord, error) {
		return s.Consents().HistoryOfAllLives(ctx, subjectID(t, subject), purpose)
	})
}

// restricted returns the restriction records of a subject for a purpose in the store.
func (w *world) restricted(t testing.TB, subject, purpose string) []domain.RestrictionRecord {
	t.Helper()
	return inStore(t, w, func(ctx context.Context, s ports.Session) ([]domain.RestrictionRecord, error) {
		return s.Restrictions().History(ctx, subjectID(t, subject), &purpose)
	})
}

// restriction returns the record in force of a subject for a purpose in the store. It stays in force after an erasure.
func (w *world) restriction(t testing.TB, subject, purpose string) []domain.RestrictionRecord {
	t.Helper()
	return inStore(t, w, func(ctx context.Context, s ports.Session) ([]domain.RestrictionRecord, error) {
		_, scoped, err := s.Restrictions().Latest(ctx, subjectID(t, subject), &purpose)
		if scoped == nil {
			return nil, err
		}
		return []domain.RestrictionRecord{*scoped}, err
	})
}

func require(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("the suite failed: %v", err)
	}
}

// newAPI creates the API with its services. It does what package app/stack does, because an adapter must not import
// that package.
func newAPI(
	s *sessions, dataMap datamap.DataMap, purposes domain.Purposes, config httpapi.Config,
) (*httpapi.API, error) {
	clock, ids, systems := &s.clock, &ids{}, externalSystems()
	var err error
	config.Export, err = export.NewExporter(export.Config{
		Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: systems, Recorded: config.Requests.Exported,
	})
	if err != nil {
		return nil, err
	}
	config.Erasure, err = erasure.NewEraser(erasure.Config{
		Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: systems, Register: config.Requests.Erasing,
	})
	if err != nil {
		return nil, err
	}
	config.Consent = consent.NewLedger(clock, ids).WithPurposes(purposes)
	config.Restriction = restriction.NewLedger(clock, ids).WithPurposes(purposes).WithRecorded(config.Requests.Restricted)
	config.Sessions, config.DataMap = s, dataMap
	config.Logger = slog.New(slog.DiscardHandler)
	return httpapi.New(config)
}
