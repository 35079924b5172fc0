package readme_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

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
	Name  string `bun:"name,unique" pii:"contact"`
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
	for _, row := range []*Account{account, {ID: 43, Name: "Bob"}} {
		if err == nil {
			_, err = db.NewInsert().Model(row).Exec(t.Context())
		}
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

func printPlan(gdpr *app.Integration) {
	for _, step := range gdpr.Plan().Steps {
		fmt.Println(step.Strategy, step.Target, step.Columns, step.Via)
	}
}

func Example_plan() {
	gdpr, err := app.New(app.Config{
		DB: bun.NewDB(new(sql.DB), sqlitedialect.New()), Models: []any{(*Account)(nil)},
	})
	if err != nil {
		panic(err)
	}
	printPlan(gdpr)
	// Output: delete accounts []
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
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
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
