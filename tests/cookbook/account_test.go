package cookbook_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Client struct {
	bun.BaseModel `bun:"table:clients"`

	ID       int64      `bun:"id,pk" subject:"id"`
	Email    string     `bun:"email" pii:"contact,erasure:anonymize,surrogate:'{}@erased.invalid'"`
	Hash     *string    `bun:"password_hash" pii:"technical,erasure:null,export:no"`
	Role     string     `bun:"role" pii:"technical,erasure:anonymize,surrogate:'none'"`
	Disabled *time.Time `bun:"disabled_at" pii:"technical,erasure:anonymize,surrogate:'2000-01-01T00:00:00Z',always"`
}

type Token struct {
	bun.BaseModel `bun:"table:tokens" subject:"owned"`

	ID       int64   `bun:"id,pk"`
	ClientID int64   `bun:"client_id"`
	Client   *Client `bun:"rel:belongs-to,join:client_id=id"`
	Hash     string  `bun:"hash" pii:"technical,export:no"`
}

func known(ctx context.Context, gdpr *app.Integration, id string) (domain.Subject, error) {
	subject, err := domain.NewSubject(id) // from the cookie, whose signature you have checked
	if err != nil {
		return domain.Subject{}, err
	}
	state, err := gdpr.Operator().SubjectState(ctx, subject.ID)
	if err != nil {
		return domain.Subject{}, err
	}
	if !state.Present || state.Life == domain.LifeEnded {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return subject, nil
}

func TestAnErasedPersonDoesNotComeInAgain(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hash := "$2a$10$N9qo"
		prepare(t, db, (*Client)(nil), (*Token)(nil))
		insert(t, db, &Client{ID: 42, Email: "zoe@example.org", Hash: &hash, Role: "admin"}, &Client{ID: 7, Role: "user"},
			&Token{ID: 1, ClientID: 42, Hash: "t0k3n"})
		gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Client)(nil), (*Token)(nil)}})
		must(t, err)
		_, err = known(t.Context(), gdpr, "42")
		must(t, err)
		_, err = gdpr.Operator().Erase(t.Context(), subject(t, "42"))
		must(t, err)
		var zoe Client
		must(t, db.NewSelect().Model(&zoe).Where("id = 42").Scan(t.Context()))
		tokens, err := db.NewSelect().Model((*Token)(nil)).Count(t.Context())
		must(t, err)
		if zoe.Hash != nil || zoe.Role != "none" || zoe.Disabled == nil || zoe.Disabled.Year() != 2000 || tokens != 0 {
			t.Errorf("zoe is %+v, and has %d tokens", zoe, tokens)
		}
		for id, isKnown := range map[string]bool{"42": false, "7": true, "99": false} {
			_, err := known(t.Context(), gdpr, id)
			var refused *httpapi.StatusError
			if isKnown != (err == nil) || !isKnown && (!errors.As(err, &refused) || refused.Status != http.StatusUnauthorized) {
				t.Errorf("client %s: %v", id, err)
			}
		}
	})
}
