// Command pgx is a program with a pgx pool, a manifest and net/http, as with sqlc.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

// personalData is the data map of the application. It can be a file of its own.
const personalData = `{
  "manifest_version": 2,
  "tables": [
    {"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
      {"name": "id", "type": "bigint"},
      {"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}},
      {"name": "theme", "type": "text"}
    ]}
  ]
}`

// signedIn returns the user of a request. This example trusts a header. Use your authentication instead.
func signedIn(r *http.Request) (domain.Subject, error) {
	id := r.Header.Get("X-User")
	if id == "" {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(id)
}

func run(ctx context.Context, databaseURL, address string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer pool.Close()
	db := bun.NewDB(stdlib.OpenDBFromPool(pool), pgdialect.New()) // takes its connections from the pool
	dataMap, err := manifest.Read(strings.NewReader(personalData))
	if err != nil {
		return err
	}
	gdpr, err := app.New(app.Config{DB: db, DataMap: dataMap})
	if err != nil {
		return err
	}
	if err := gdpr.Migrate(ctx); err != nil { // creates the tables of habeas
		return err
	}
	mux := http.NewServeMux()
	gdpr.Mount(mux, "/me", signedIn)
	gdpr.Worker().Start() // calls external systems in the background
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case err = <-served: // for example, the port is in use
	case <-ctx.Done():
		err = server.Shutdown(context.WithoutCancel(ctx)) // waits for the requests
	}
	return errors.Join(err, gdpr.Worker().Stop(0)) // waits up to 10 s for calls to external systems
}

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL"), "localhost:3000"); err != nil {
		log.Fatal(err)
	}
}
