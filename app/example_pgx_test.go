package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

// currentCustomer trusts a cookie. A real application takes the user from its session or from a verified token.
func currentCustomer(r *http.Request) (domain.Subject, error) {
	user, err := r.Cookie("user")
	if err != nil {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(user.Value)
}

// An application with a pgx pool and net/http. A manifest in JSON, and not models of bun, describes its personal data.
func ExampleNew_pgxPool() {
	pool, err := pgxpool.New(context.Background(), "postgres://localhost/shop")
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	mux := http.NewServeMux()
	gdpr, err := onPool(pool, strings.NewReader(customersManifest), mux)
	if err != nil {
		panic(err)
	}
	for _, step := range gdpr.Stack().Eraser.Plan().Steps {
		fmt.Println(step.Strategy, step.Target, step.Columns)
	}
	// Output: anonymize customers [email]
}

func onPool(pool *pgxpool.Pool, dataMap io.Reader, mux *http.ServeMux) (*app.Integration, error) {
	declared, err := manifest.Read(dataMap)
	if err != nil {
		return nil, err
	}
	gdpr, err := app.New(app.Config{DB: onBun(pool), DataMap: declared})
	if err != nil {
		return nil, err
	}
	gdpr.Mount(mux, "/me", currentCustomer)
	return gdpr, nil
}

// onBun returns a handle of bun on the pool. Each statement acquires a connection from the pool and releases it
// afterwards.
func onBun(pool *pgxpool.Pool) *bun.DB {
	return bun.NewDB(stdlib.OpenDBFromPool(pool), pgdialect.New())
}

const customersManifest = `{
  "manifest_version": 2,
  "tables": [
    {"name": "customers", "primary_key": ["id"], "subject_key": ["id"], "columns": [
      {"name": "id", "type": "bigint"},
      {"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}},
      {"name": "theme", "type": "text"}
    ]}
  ]
}`
