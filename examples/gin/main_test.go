package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/visit"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	postgres.Main(m)
}

// openShop creates the tables of the application, and the user 1 with an order.
func openShop(t *testing.T) (*pgxpool.Pool, string) {
	t.Helper()
	url := postgres.NewDatabase(t)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), `
		CREATE TABLE users (id bigint PRIMARY KEY, email text, theme text);
		CREATE TABLE orders (id bigint PRIMARY KEY, user_id bigint REFERENCES users, item text);
		INSERT INTO users VALUES (1, 'zoe@example.org', 'dark');
		INSERT INTO orders VALUES (1, 1, 'tea')`); err != nil {
		t.Fatal(err)
	}
	return pool, url
}

func TestTheProgramErasesTheUser(t *testing.T) {
	pool, _ := openShop(t)
	engine, _, err := newEngine(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		method, path, user string
		status             int
		body               string
	}{
		{http.MethodGet, "/me/privacy/export", "", 401, ""},
		{http.MethodGet, "/me/privacy/export", "1", 200, "zoe@example.org"},
		{http.MethodGet, "/me/orders", "1", 200, "[]"},
		{http.MethodDelete, "/me/privacy", "1", 200, `"deleted":{"orders":1},"anonymized":{"users":1}`},
	} {
		request := httptest.NewRequest(test.method, test.path, nil)
		request.Header.Set("X-User", test.user)
		response := httptest.NewRecorder()
		engine.ServeHTTP(response, request)
		if response.Code != test.status || !strings.Contains(response.Body.String(), test.body) {
			t.Errorf("%+v: %d %s", test, response.Code, response.Body)
		}
	}
}

func TestTheProgramServesAndEnds(t *testing.T) {
	_, url := openShop(t)
	visit.Path(t, "/me/privacy", func(ctx context.Context, address string) error { return run(ctx, url, address) })
}
