// Command external is a program that exports and erases users in an external system, a newsletter service.
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
	"github.com/habeas-data/habeas/examples/external/newsletter"
	"github.com/habeas-data/habeas/ports"
)

type User struct {
	bun.BaseModel `bun:"table:users"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact"` // also identifies the user in the newsletter service
}

// signedIn returns a function that returns the user of a request, and the user's address in the newsletter service.
func signedIn(db *bun.DB) func(*http.Request) (domain.Subject, error) {
	return func(r *http.Request) (domain.Subject, error) {
		id := r.Header.Get("X-User") // trusts a header: use your authentication instead
		var user User
		err := db.NewSelect().Model(&user).Where("id = ?", id).Scan(r.Context())
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
		case err != nil:
			return domain.Subject{}, err
		}
		return domain.NewSubject(id, domain.SubjectRef{Kind: "newsletter", Value: user.Email})
	}
}

// alert reports an erasure that the worker has given up. SubjectID and Ref of the entry identify a person: leave them
// out of logs.
func alert(_ context.Context, entry domain.OutboxEntry) {
	log.Print(entry.Operation, " at ", entry.Resolver, " needs an operator: entry ", entry.EntryID)
}

func run(ctx context.Context, db *bun.DB, newsletterURL, token, address string) error {
	if _, err := db.NewCreateTable().Model((*User)(nil)).IfNotExists().Exec(ctx); err != nil {
		return err
	}
	gdpr, err := app.New(app.Config{
		DB: db, Models: []any{(*User)(nil)}, OnAbandoned: alert,
		Resolvers: []ports.Resolver{newsletter.NewResolver(newsletterURL, token)},
	})
	if err != nil {
		return err
	}
	if err := gdpr.Migrate(ctx); err != nil {
		return err
	}
	mux := http.NewServeMux()
	gdpr.Mount(mux, "/me", signedIn(db))
	gdpr.Worker().Start() // calls the newsletter service after the commit of an erasure
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case err = <-served: // for example, the port is in use
	case <-ctx.Done():
		err = server.Shutdown(context.WithoutCancel(ctx)) // waits for the requests
	}
	return errors.Join(err, gdpr.Worker().Stop(0)) // waits up to 10 s for calls to the service
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	connections, err := sql.Open("sqlite", "file:newsletter.db?_pragma=foreign_keys(1)&_pragma=journal_mode(wal)")
	if err != nil {
		log.Fatal(err)
	}
	db := bun.NewDB(connections, sqlitedialect.New())
	if err := run(ctx, db, os.Getenv("NEWSLETTER_URL"), os.Getenv("NEWSLETTER_TOKEN"), "localhost:3000"); err != nil {
		log.Fatal(err)
	}
}
