package attack

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/databases"
)

// The memory store has to keep RequestTimeout, the evidence included, as bunstore does.
func TestTheMemoryStoreKeepsTheTimeOfARequest(t *testing.T) {
	gdpr, _ := integrate(t, databases.SQLite(t), app.Config{RequestTimeout: 500 * time.Millisecond})
	store, err := memory.New(gdpr.Stack().DataMap, memory.Options{})
	must(t, err)
	defer gdpr.Sessions().Override(store)()
	held, free := make(chan bool), make(chan bool)
	go func() {
		_ = store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
			_ = s.Subjects().Lock(ctx, subjectID(t, "2"), time.Now())
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	defer close(free)
	server := fiber.New()
	server.Route("/me", gdpr.Router(one))
	before := time.Now()
	response, err := server.Test(httptest.NewRequest(http.MethodDelete, "/me", nil), 20_000)
	must(t, err)
	_ = response.Body.Close()
	t.Log(response.StatusCode, time.Since(before))
	if response.StatusCode != 504 || time.Since(before) > time.Second {
		t.Errorf("status %d after %v", response.StatusCode, time.Since(before))
	}
}

type tenantKey struct{}

// hook notes statements whose context has no tenant.
type hook struct {
	mu   sync.Mutex
	lost []string
	on   bool
}

func (h *hook) BeforeQuery(ctx context.Context, e *bun.QueryEvent) context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.on && ctx.Value(tenantKey{}) == nil {
		h.lost = append(h.lost, e.Query)
	}
	return ctx
}
func (h *hook) AfterQuery(context.Context, *bun.QueryEvent) {}

// A value of the request's context (a tenant, a trace) reaches every statement of a streamed export.
func TestStatementsOfAStreamedExportHaveTheContextsValues(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		gdpr, _ := integrate(t, db, app.Config{})
		_, err := db.Exec("INSERT INTO persons (id, email) VALUES (1, 'a')")
		must(t, err)
		for range 60 {
			_, err := db.NewInsert().Model(&Note{PersonID: 1, Body: strings.Repeat("x", 50_000)}).Exec(t.Context())
			must(t, err)
		}
		h := &hook{}
		db.AddQueryHook(h)
		server := fiber.New(fiber.Config{DisableStartupMessage: true})
		server.Use(func(c *fiber.Ctx) error {
			c.SetUserContext(context.WithValue(context.Background(), tenantKey{}, "acme"))
			return c.Next()
		})
		server.Route("/me", gdpr.Router(one))
		url := listen(t, server)
		h.on = true
		code, text, _ := call(t, "GET", url+"/me/export", "")
		if code != 200 || strings.Contains(text, "BROKEN") {
			t.Errorf("%d %s", code, text[max(0, len(text)-100):])
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.lost) > 0 {
			t.Errorf("%d statements without the tenant, such as %.120s", len(h.lost), h.lost[0])
		}
	})
}

// The same with net/http, where the request's context is good until ServeHTTP returns.
func TestStatementsOfAStreamedExportHaveTheContextsValuesOnNetHTTP(t *testing.T) {
	db := databases.SQLite(t)
	gdpr, _ := integrate(t, db, app.Config{})
	for range 60 {
		_, err := db.NewInsert().Model(&Note{PersonID: 1, Body: strings.Repeat("x", 50_000)}).Exec(t.Context())
		must(t, err)
	}
	_, err := db.Exec("INSERT INTO persons (id, email) VALUES (1, 'a')")
	must(t, err)
	h := &hook{on: true}
	db.AddQueryHook(h)
	api, err := gdpr.Stack().API(httpapi.Config{Sessions: gdpr.Sessions()})
	must(t, err)
	handler := nethttp.Handler("/me", api, func(*http.Request) (domain.Subject, error) { return domain.NewSubject("1") })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tenantKey{}, "acme")))
	}))
	defer server.Close()
	code, text, _ := call(t, "GET", server.URL+"/me/export", "")
	if code != 200 || strings.Contains(text, "BROKEN") {
		t.Errorf("%d %s", code, text[max(0, len(text)-100):])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.lost) > 0 {
		t.Errorf("%d statements without the tenant, such as %.60s", len(h.lost), h.lost[0])
	}
}

// Entries for a system that this process does not know must not make its claims slow.
func TestForeignEntriesDoNotSlowClaims(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		gdpr, _ := integrate(t, db, app.Config{Resolvers: []ports.Resolver{crm{"crm", make(chan string, 9)}}})
		at := "'" + time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") + "'"
		_, err := db.DB.Exec("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)" +
			" INSERT INTO habeas_outbox (entry_id, subject_id, resolver, operation, status, attempts, enqueued_at)" +
			" SELECT 'e' || i, '1', 'other', 'erase', 'pending', 0, " + at + " FROM n")
		must(t, err)
		before := time.Now()
		for range 10 {
			_, err := gdpr.Stack().Runner.RunOnce(t.Context())
			must(t, err)
		}
		t.Log("each claim takes", time.Since(before)/10)
	})
}
