package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

func asOne(*http.Request) (domain.Subject, error) { return domain.NewSubject("1") }

func send(t *testing.T, handler http.Handler, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), method, target, nil))
	return response
}

func TestMountServesThePrefixAndEverythingBelow(t *testing.T) {
	for _, prefix := range []string{"", "/", "/me", "me", "/me/", "/api/v1/me", "/{tenant}/me"} {
		gdpr, _ := newIntegration(t)
		mux := http.NewServeMux()
		gdpr.Mount(mux, prefix, asOne)
		path := "/" + strings.Trim(strings.Replace(prefix, "{tenant}", "acme", 1), "/")
		below := strings.TrimSuffix(path, "/")
		for target, status := range map[string]int{
			"GET " + below + "/export": 200, "GET " + below + "/consent/ads": 200, "DELETE " + path: 200,
			"GET " + below + "/restriction": 404, "GET /menu" + below + "/export": 404,
		} {
			method, url, _ := strings.Cut(target, " ")
			if response := send(t, mux, method, url); response.Code != status {
				t.Errorf("prefix %q, %s: %d", prefix, target, response.Code)
			}
		}
	}
}

func TestTheOpenAPIDocumentIncludesHandlers(t *testing.T) {
	gdpr, _ := newIntegration(t)
	gdpr.Mount(http.NewServeMux(), "/me", asOne)
	gdpr.Handler("/staff/self", asOne, app.WithRestriction())
	for prefix, restriction := range map[string]bool{"/me": false, "/staff/self": true, "/api/me": false} {
		document, err := gdpr.OpenAPI(prefix)
		must(t, err)
		var described struct{ Paths map[string]any }
		must(t, json.Unmarshal(document, &described))
		if _, has := described.Paths[prefix+"/restriction"]; has != restriction || described.Paths[prefix] == nil {
			t.Errorf("%s: %v", prefix, described.Paths)
		}
	}
	if _, err := gdpr.OpenAPI("/you"); err == nil {
		t.Error("a prefix without routes has a document")
	}
}

func TestRunWorksUntilItsContextEnds(t *testing.T) {
	db := databases.SQLite(t)
	shop.Open(t, db, models)
	system := archive{erased: make(chan string)}
	gdpr, err := app.New(app.Config{
		DB: db, Models: models, Resolvers: []ports.Resolver{system}, PollInterval: time.Hour,
	})
	must(t, err)
	handler := gdpr.Handler("/me", func(r *http.Request) (domain.Subject, error) {
		return domain.NewSubject("1", domain.SubjectRef{Kind: "archive", Value: r.Header.Get("X-Ref")})
	})
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- gdpr.Run(ctx) }()

	request := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/me", nil)
	request.Header.Set("X-Ref", "box")
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	if response.Code != http.StatusOK {
		t.Fatal(response.Code)
	}
	select {
	case err := <-ran:
		t.Fatalf("Run returned before its context ended: %v", err)
	case got := <-system.erased: // hangs if Run does not start the worker
		if got != "box" {
			t.Errorf("erased %q", got)
		}
	}
	stop()
	must(t, <-ran)
}

func TestAPoolOfPgxIsServed(t *testing.T) {
	ctx := t.Context()
	pool, err := pgxpool.New(ctx, postgres.NewDatabase(t))
	must(t, err)
	defer pool.Close()
	_, err = pool.Exec(ctx, "CREATE TABLE customers (id bigint PRIMARY KEY, email text NOT NULL, theme text)")
	must(t, err)
	_, err = pool.Exec(ctx, "INSERT INTO customers VALUES (1, 'zoe@example.org', 'dark'), (2, 'joe@example.org', 'light')")
	must(t, err)
	mux := http.NewServeMux()
	_, err = onPool(pool, strings.NewReader(customersManifest), mux)
	must(t, err)
	must(t, bunstore.Migrate(ctx, onBun(pool), bunstore.Options{}))

	signed := func(method, target string) (int, string) {
		request := httptest.NewRequestWithContext(ctx, method, target, nil)
		request.AddCookie(&http.Cookie{Name: "user", Value: "1"})
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, request)
		return response.Code, response.Body.String()
	}
	if status, body := signed(http.MethodGet, "/me/export"); status != 200 || !strings.Contains(body, "zoe@example.org") {
		t.Errorf("the export: %d %s", status, body)
	}
	if status, body := signed(http.MethodDelete, "/me"); status != 200 {
		t.Errorf("the erasure: %d %s", status, body)
	}
	var left string
	must(t, pool.QueryRow(ctx, "SELECT string_agg(email, ' ' ORDER BY id) FROM customers").Scan(&left))
	if strings.Contains(left, "zoe") || !strings.Contains(left, "joe@example.org") {
		t.Errorf("the rows after the erasure: %s", left)
	}
	if taken := pool.Stat().AcquiredConns(); taken != 0 {
		t.Error(fmt.Sprint(taken, " connections of the pool are kept"))
	}
}
