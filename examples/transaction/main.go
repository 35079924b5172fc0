// Command transaction is a program whose own transaction erases a user, and counts the reasons why users leave.
package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type Member struct {
	bun.BaseModel `bun:"table:members"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact"`
}

// Departure counts the members that left for one reason. It has no data of a person, so it is not in the data map.
type Departure struct {
	bun.BaseModel `bun:"table:departures"`

	Reason  string `bun:"reason,pk"`
	Members int    `bun:"members"`
}

var errReason = errors.New("the reason must be price, support or other")

// leave erases a member and counts the reason in one transaction: both happen, or neither.
func leave(ctx context.Context, db *bun.DB, gdpr *app.Integration, member domain.Subject, reason string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // has no effect after the commit
	joined, err := gdpr.Join(tx)
	if err != nil {
		return err
	}
	err = joined.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Eraser.Erase(ctx, s, member)
		return err
	})
	if err != nil {
		return err
	}
	counted, err := tx.NewUpdate().Model((*Departure)(nil)).
		Set("members = members + 1").Where("reason = ?", reason).Exec(ctx)
	if err != nil {
		return err
	}
	if rows, err := counted.RowsAffected(); err != nil || rows == 0 {
		return errors.Join(errReason, err) // rolls back the erasure
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	joined.Committed(ctx) // calls the hooks that run after a commit
	return nil
}

func newMux(ctx context.Context, db *bun.DB) (*http.ServeMux, error) {
	for _, model := range []any{(*Member)(nil), (*Departure)(nil)} {
		if _, err := db.NewCreateTable().Model(model).IfNotExists().Exec(ctx); err != nil {
			return nil, err
		}
	}
	reasons := []Departure{{Reason: "price"}, {Reason: "support"}, {Reason: "other"}}
	if _, err := db.NewInsert().Model(&reasons).Ignore().Exec(ctx); err != nil {
		return nil, err
	}
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Member)(nil)}})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("DELETE /account", func(w http.ResponseWriter, r *http.Request) {
		member, err := domain.NewSubject(r.Header.Get("X-User")) // trusts a header: use your authentication instead
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch err := leave(r.Context(), db, gdpr, member, r.FormValue("reason")); {
		case err == nil:
			w.WriteHeader(http.StatusNoContent)
		case errors.Is(err, errReason):
			w.WriteHeader(http.StatusUnprocessableEntity)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	return mux, gdpr.Migrate(ctx)
}

func main() {
	connections, err := sql.Open("sqlite", "file:club.db?_pragma=journal_mode(wal)")
	if err != nil {
		log.Fatal(err)
	}
	mux, err := newMux(context.Background(), bun.NewDB(connections, sqlitedialect.New()))
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: "localhost:3000", Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
