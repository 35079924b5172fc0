package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

// What the story is played with: HTTP adapters behind a real server, an external system, two customers.

// httpAdapter is a way to serve the API under /me, and returns the URL of its server. The customer is named by headers,
// which only a test may do.
type httpAdapter struct {
	name  string
	serve func(t *testing.T, api *httpapi.API) string
}

func httpAdapters() []httpAdapter {
	return []httpAdapter{{"fiber", serveFiber}, {"nethttp", serveNetHTTP}}
}

func serveFiber(t *testing.T, api *httpapi.API) string {
	t.Helper()
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Route("/me", fiberhttp.Router(api, func(c *fiber.Ctx) (domain.Subject, error) {
		if c.Get("X-Tenant") == "" {
			return domain.Subject{}, fiber.ErrUnauthorized
		}
		return subjectOf(c.Get("X-Tenant"))
	}, httpapi.WithRestriction()))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Listener(listener) }()
	t.Cleanup(func() {
		must(t, server.Shutdown())
		must(t, <-served)
	})
	return "http://" + listener.Addr().String()
}

func serveNetHTTP(t *testing.T, api *httpapi.API) string {
	t.Helper()
	rights := nethttp.Handler("/me", api, func(r *http.Request) (domain.Subject, error) {
		if r.Header.Get("X-Tenant") == "" {
			return domain.Subject{}, &httpapi.Refusal{Status: http.StatusUnauthorized}
		}
		return subjectOf(r.Header.Get("X-Tenant"))
	}, httpapi.WithRestriction())
	mux := http.NewServeMux()
	mux.Handle("/me", rights)
	mux.Handle("/me/", rights)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// subjectOf is customer 1 of a tenant, whom the desk knows by the tenant's name.
func subjectOf(tenant string) (domain.Subject, error) {
	id, err := domain.NewSubjectID(tenant, "1")
	return domain.Subject{ID: id, Refs: []domain.SubjectRef{{Kind: "desk", Value: strings.Clone(tenant)}}}, err
}

// exchange sends a request as customer 1 of a tenant, and decodes the answer into result, unless that is nil. Another
// status than the one that is wanted ends the test.
func (s *story) exchange(tenant, method, path, body string, status int, result any) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	must(s.t, err)
	request.Header.Set("X-Tenant", tenant)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	must(s.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	must(s.t, err)
	if response.StatusCode != status {
		s.t.Fatalf("%s %s: %d %s, want %d", method, path, response.StatusCode, text, status)
	}
	if result != nil {
		must(s.t, json.Unmarshal(text, result))
	}
}

// desk is the external system: it knows everybody until they are erased.
type desk struct {
	mu     sync.Mutex
	down   bool
	names  map[string]any // what was rectified
	erased map[string]int // how often
}

var _ ports.RectifyingResolver = (*desk)(nil)

func newDesk() *desk { return &desk{names: map[string]any{}, erased: map[string]int{}} }

func (d *desk) Name() string { return "desk" }

func (d *desk) CoveredSurface() domain.CoveredSurface {
	return domain.CoveredSurface{Fields: []domain.CoveredField{{Field: "contact.name", Category: domain.CategoryIdentity}}}
}

func (d *desk) ExportSubject(_ context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return nil, errors.New("the desk is down")
	}
	if d.erased[ref.Value] > 0 {
		return nil, nil
	}
	return []domain.ExportRecord{
		{Field: "contact.name", Row: "7", Category: domain.CategoryIdentity, Value: "of " + ref.Value},
	}, nil
}

func (d *desk) EraseSubject(_ context.Context, ref domain.SubjectRef, _ string) (alreadyAbsent bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erased[ref.Value]++
	return d.erased[ref.Value] > 1, nil
}

func (d *desk) RectifySubject(_ context.Context, ref domain.SubjectRef, _ string, to domain.Corrections) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[ref.Value] = to[domain.CategoryContact]
	return nil
}

// ticking is a clock on which a second passes whenever somebody looks.
type ticking struct {
	mu  sync.Mutex
	now time.Time
}

func (c *ticking) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

var issued = time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)

// seed gives customer 1 of a tenant a row in every table; numbers of rows begin at first.
func seed(t *testing.T, store porttest.Store, tenant string, first int64) {
	t.Helper()
	owner := func(row porttest.Row) porttest.Row {
		row["id"], row["tenant"], row["person"] = first, tenant, int64(1)
		return row
	}
	store.Insert(t, "people", porttest.Row{
		"tenant": tenant, "number": int64(1), "name": "Ada", "email": "ada@example.org", "nickname": "al", "born": issued,
		"score": 12.5, "level": int64(3), "visits": int64(1) << 30, "active": true,
		"token": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "settings": domain.JSON(`{"theme":"dark"}`),
		"photo": []byte{1, 2}, "remark": "likes tea",
	})
	store.Insert(t, "addresses", owner(porttest.Row{"street": "1 Main Street"}))
	store.Insert(t, "messages", owner(porttest.Row{"body": "hello"}))
	store.Insert(t, "messages", porttest.Row{
		"id": first + 1, "tenant": tenant, "person": int64(1), "reply_to": first, "body": "anybody there?",
	})
	store.Insert(t, "orders", owner(porttest.Row{"note": "ring twice", "status": "shipped"}))
	store.Insert(t, "order_lines", porttest.Row{"order_id": first, "line": int64(1), "engraving": "for you"})
	store.Insert(t, "invoices", owner(porttest.Row{"address": "1 Main Street", "phone": "555", "issued_at": issued}))
}

// rowsOf returns what is held about customer 1 of a tenant, by table: numbers of rows from first to first + 9.
func rowsOf(t *testing.T, store porttest.Store, tenant string, first int64) map[string][]porttest.Row {
	t.Helper()
	held := map[string][]porttest.Row{}
	for _, table := range []string{"people", "addresses", "messages", "orders", "order_lines", "invoices"} {
		for _, row := range store.Rows(t, table) {
			order, isLine := row["order_id"].(int64)
			if row["tenant"] == tenant || isLine && order/10 == first/10 {
				held[table] = append(held[table], row)
			}
		}
	}
	return held
}
