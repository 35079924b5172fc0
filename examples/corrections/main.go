// Command corrections is a program with a route with which people correct their data (Art. 16 GDPR).
package main

import (
	"context"
	"database/sql"
	"encoding/json"
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

type Account struct {
	bun.BaseModel `bun:"table:accounts"`

	ID    int64  `bun:"id,pk" subject:"id"`
	Name  string `bun:"name,unique" pii:"contact"`
	Phone string `bun:"phone,type:varchar(20)" pii:"contact"`
}

// signedIn returns the user of a request. This example trusts a header. Use your authentication instead.
func signedIn(r *http.Request) (domain.Subject, error) {
	return domain.NewSubject(r.Header.Get("X-User"))
}

// correctable lists the columns that a person may correct. The keys are the fields of the request.
var correctable = map[string]domain.Correction{
	"name":  {Table: "accounts", Column: "name"},
	"phone": {Table: "accounts", Column: "phone"},
}

// correct handles a request with a body such as {"phone": "0456"}.
func correct(gdpr *app.Integration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		person, err := signedIn(r)
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var fields map[string]string
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&fields); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var corrections []domain.Correction
		for field, value := range fields {
			correction, ok := correctable[field]
			if !ok {
				w.WriteHeader(http.StatusUnprocessableEntity)
				return
			}
			correction.Value = value
			corrections = append(corrections, correction)
		}
		stack := gdpr.Stack()
		err = stack.Sessions.Do(r.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := stack.Rectifier.Rectify(ctx, s, person, corrections...)
			return err
		})
		switch {
		case err == nil:
			w.WriteHeader(http.StatusNoContent)
		case errors.Is(err, domain.ErrInvalid): // a value does not fit its column, for example it is too long
			w.WriteHeader(http.StatusUnprocessableEntity)
		case errors.Is(err, domain.ErrConflict): // the database refuses a value, for example by a constraint
			w.WriteHeader(http.StatusConflict)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
}

func newMux(ctx context.Context, db *bun.DB) (*http.ServeMux, error) {
	if _, err := db.NewCreateTable().Model((*Account)(nil)).IfNotExists().Exec(ctx); err != nil {
		return nil, err
	}
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Account)(nil)}})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("PATCH /me/profile", correct(gdpr))
	return mux, gdpr.Migrate(ctx)
}

func main() {
	connections, err := sql.Open("sqlite", "file:accounts.db?_pragma=journal_mode(wal)")
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
