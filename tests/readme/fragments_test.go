package readme_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/readme/internal/gin"
)

type Account struct {
	bun.BaseModel `bun:"table:accounts"`

	ID    int64  `bun:"id,pk" subject:"id"`
	Name  string `bun:"name" pii:"contact"`
	Phone string `bun:"phone,type:varchar(20)" pii:"contact"`
}

// openAccounts adds habeas to an application with the account 42.
func openAccounts(t *testing.T) (*bun.DB, *app.Integration) {
	t.Helper()
	db := databases.SQLite(t)
	account := &Account{ID: 42, Name: "Zoe", Phone: "0123"}
	gdpr, err := app.New(configOf(db, []any{account}, nil, func(string) {}))
	if err == nil {
		err = gdpr.Migrate(t.Context())
	}
	if err == nil {
		_, err = db.NewCreateTable().Model(account).Exec(t.Context())
	}
	if err == nil {
		_, err = db.NewInsert().Model(account).Exec(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return db, gdpr
}

func configOf(db *bun.DB, models []any, resolvers []ports.Resolver, alert func(string)) app.Config {
	return app.Config{
		DB: db, Models: models, Resolvers: resolvers,
		Purposes: []domain.Purpose{{Name: "newsletter"}, {Name: "profiling"}},
		OnAbandoned: func(_ context.Context, entry domain.OutboxEntry) {
			// SubjectID and Ref identify a person: leave them out of logs and messages.
			alert(string(entry.Operation) + " at " + entry.Resolver + " needs a person: entry " + entry.EntryID)
		},
		Options: stack.Options{Saga: saga.Options{CallTimeout: 10 * time.Second}},
	}
}

// correctPhone corrects the phone number in all rows of the person in the table accounts. It returns the status of the
// response.
func correctPhone(ctx context.Context, gdpr *app.Integration, person domain.Subject, phone string) (int, error) {
	stack := gdpr.Stack()
	err := stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		correction := domain.Correction{Table: "accounts", Column: "phone", Value: phone}
		_, err := stack.Rectifier.Rectify(ctx, s, person, correction)
		return err
	})
	switch {
	case errors.Is(err, domain.ErrInvalid): // for example, the value is too long; the text of err never contains it
		return http.StatusUnprocessableEntity, err
	case err != nil:
		return http.StatusInternalServerError, err
	}
	return http.StatusNoContent, nil
}

func TestACorrectionOfAColumn(t *testing.T) {
	db, gdpr := openAccounts(t)
	zoe, err := domain.NewSubject("42")
	if err != nil {
		t.Fatal(err)
	}
	for phone, want := range map[string]int{"0456": 204, strings.Repeat("7", 21): 422} {
		if status, err := correctPhone(t.Context(), gdpr, zoe, phone); status != want {
			t.Errorf("%d, %v", status, err)
		}
	}
	account := &Account{ID: 42}
	if err := db.NewSelect().Model(account).WherePK().Scan(t.Context()); err != nil || account.Phone != "0456" {
		t.Error(account, err)
	}
}

// userKey is the key of the user's id in the context of a request.
type userKey struct{}

// authenticate puts the user into the context of the request, because WrapH does not pass the gin.Context.
func authenticate(c *gin.Context) {
	if id := c.GetHeader("X-User"); id != "" { // trusts a header: use your authentication instead
		c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), userKey{}, id))
	}
}

func signedIn(r *http.Request) (domain.Subject, error) {
	id, ok := r.Context().Value(userKey{}).(string)
	if !ok {
		return domain.Subject{}, &httpapi.Refusal{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(id)
}

func mountOnGin(engine *gin.Engine, gdpr *app.Integration) {
	rights := gin.WrapH(gdpr.Handler("/me/privacy", signedIn))
	me := engine.Group("/me", authenticate)
	me.Any("/privacy", rights) // DELETE /me/privacy is the erasure
	me.Any("/privacy/*path", rights)
}

func TestTheRoutesOnGin(t *testing.T) {
	_, gdpr := openAccounts(t)
	engine := &gin.Engine{}
	mountOnGin(engine, gdpr)
	for user, want := range map[string]int{"": 401, "42": 200} {
		for pattern, request := range map[string]*http.Request{
			"/me/privacy/*path": httptest.NewRequest(http.MethodGet, "/me/privacy/export", nil),
			"/me/privacy":       httptest.NewRequest(http.MethodDelete, "/me/privacy", nil),
		} {
			response := httptest.NewRecorder()
			request.Header.Set("X-User", user)
			engine.Handle(pattern, response, request)
			if response.Code != want {
				t.Errorf("user %q, %s: %d %s", user, pattern, response.Code, response.Body)
			}
		}
	}
}
