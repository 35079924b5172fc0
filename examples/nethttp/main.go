// Command nethttp is a program with bun models and net/http.
package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

type User struct {
	bun.BaseModel `bun:"table:users"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact"`
	Theme string `bun:"theme"`
}

// signedIn returns the user of a request. This example trusts a header. Use your authentication instead.
func signedIn(r *http.Request) (domain.Subject, error) {
	id := r.Header.Get("X-User")
	if id == "" {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(id)
}

func run(ctx context.Context, file, address string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	connections, err := sql.Open("sqlite", "file:"+file+"?_pragma=foreign_keys(1)&_pragma=journal_mode(wal)")
	if err != nil {
		return err
	}
	defer connections.Close()
	db := bun.NewDB(connections, sqlitedialect.New())
	if _, err := db.NewCreateTable().Model((*User)(nil)).IfNotExists().Exec(ctx); err != nil {
		return err
	}
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*User)(nil)}})
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
	if err := run(context.Background(), "users.db", "localhost:3000"); err != nil {
		log.Fatal(err)
	}
}
