package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type User struct {
	bun.BaseModel `bun:"table:users"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Theme string `bun:"theme"`
}

type Invoice struct {
	bun.BaseModel `bun:"table:invoices"`

	ID       int64     `bun:"id,pk,autoincrement"`
	UserID   int64     `bun:"user_id"`
	User     *User     `bun:"rel:belongs-to,join:user_id=id"`
	Address  string    `bun:"address" pii:"financial,erasure:retain,reason:'§ 147 AO',retain:10y,since:issued_at,from:year_end"`
	IssuedAt time.Time `bun:"issued_at"`
}

func currentSubject(c *fiber.Ctx) (domain.Subject, error) {
	user, ok := c.Locals("user").(*User) // set by the authentication of the application
	if !ok {
		return domain.Subject{}, fiber.ErrUnauthorized
	}
	return domain.NewSubject(strconv.FormatInt(user.ID, 10))
}

// An application with a bun database and a Fiber server. It prints the erasure plan when it starts.
func Example() {
	sqldb, err := sql.Open("sqlite", ":memory:")
	check(err)
	check(integrate(bun.NewDB(sqldb, sqlitedialect.New())))
	// Output:
	// retain invoices [address]
	// anonymize users [email]
}

func integrate(db *bun.DB) error {
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*User)(nil), (*Invoice)(nil)}})
	if err != nil {
		return err // for example, a mistake in the models, with its table and column
	}
	server := fiber.New()
	server.Route("/me", gdpr.Router(currentSubject))

	for _, step := range gdpr.Stack().Eraser.Plan().Steps {
		fmt.Println(step.Strategy, step.Target, step.Columns)
	}
	return nil
}

// The routes of a server that authenticates each request. WithRestriction adds the routes for the restriction of
// processing.
func ExampleIntegration_Router() {
	_, gdpr := openShop((*User)(nil))
	server := fiber.New()
	authenticate := func(c *fiber.Ctx) error {
		c.Locals("user", &User{ID: 42}) // the user who has logged in
		return c.Next()
	}
	gdpr.Router(currentSubject, app.WithRestriction())(server.Group("/me", authenticate))

	body := `{"restricted": true, "purpose": "profiling"}`
	request := httptest.NewRequest(http.MethodPost, "/me/restriction", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	response, err := server.Test(request)
	check(err)
	defer response.Body.Close()
	var record domain.RestrictionRecord
	check(json.NewDecoder(response.Body).Decode(&record))
	fmt.Println(response.StatusCode, record.SubjectID, *record.Purpose, record.Restricted, record.Source)
	// Output: 200 42 profiling true api
}

// The OpenAPI document has exactly the routes that the application has mounted.
func ExampleIntegration_OpenAPI() {
	_, gdpr := openShop((*User)(nil))
	fiber.New().Route("/me", gdpr.Router(currentSubject, app.WithTags("gdpr")))

	document, err := gdpr.OpenAPI("/me")
	check(err)
	var described struct {
		Paths map[string]map[string]struct{ Tags []string }
	}
	check(json.Unmarshal(document, &described))
	for _, path := range slices.Sorted(maps.Keys(described.Paths)) {
		for method, operation := range described.Paths[path] {
			fmt.Println(method, path, operation.Tags)
		}
	}
	// Output:
	// delete /me [gdpr]
	// post /me/consent [gdpr]
	// get /me/consent/{purpose} [gdpr]
	// get /me/export [gdpr]
}

// An application with a support desk. Exports and erasures include the data at the support desk. The worker calls the
// support desk while the server runs.
func ExampleIntegration_Lifespan() {
	models := []any{(*User)(nil), (*Invoice)(nil)}
	integrate := func(db *bun.DB, server *fiber.App, token string) error {
		desk, err := supportdesk.New(token, supportdesk.Options{})
		if err != nil {
			return err
		}
		gdpr, err := app.New(app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{desk}})
		if err != nil {
			return err
		}
		gdpr.Lifespan(server) // starts and stops the worker with the application
		return nil
	}
	_ = integrate // call server.Listen after it
}

// signedIn trusts a cookie. A real application takes the user from its session or from a verified token.
func signedIn(r *http.Request) (domain.Subject, error) {
	user, err := r.Cookie("user")
	if err != nil {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(user.Value)
}

// An application with net/http.
func ExampleIntegration_Mount() {
	_, gdpr := openShop((*User)(nil))
	mux := http.NewServeMux()
	gdpr.Mount(mux, "/me", signedIn)

	for _, cookie := range []string{"", "user=42"} {
		request := httptest.NewRequest(http.MethodDelete, "/me", nil)
		request.Header.Set("Cookie", cookie)
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, request)
		fmt.Println(response.Code)
	}
	// Output:
	// 401
	// 200
}

// The routes on a router that accepts an http.Handler. A middleware authenticates the requests.
func ExampleIntegration_Handler() {
	_, gdpr := openShop((*User)(nil))
	type user struct{}
	rights := gdpr.Handler("", func(r *http.Request) (domain.Subject, error) {
		id, _ := r.Context().Value(user{}).(string)
		return domain.NewSubject(id)
	}, app.WithRestriction())
	authenticated := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rights.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), user{}, "42")))
	})

	response := httptest.NewRecorder()
	http.StripPrefix("/account/privacy", authenticated).
		ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/account/privacy/restriction", nil))
	fmt.Println(response.Code, response.Body)
	// Output: 200 {"subject_id":"42","purpose":null,"restricted":false,"scope":null,"recorded_at":null}
}

// A complete program with net/http. It serves requests, and its worker processes the outbox. Both stop on an interrupt.
func ExampleIntegration_Run() {
	serve := func(gdpr *app.Integration, server *http.Server) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		go func() {
			if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
				stop() // for example, the address is in use
			}
		}()
		err := gdpr.Run(ctx) // calls external systems until ctx ends
		closing, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return errors.Join(err, server.Shutdown(closing))
	}
	_ = serve
}

// A background job of the application checks the consent of a user before it writes to the user.
func ExampleIntegration_Stack() {
	_, gdpr := openShop((*User)(nil))
	zoe, err := domain.NewSubjectID("42")
	check(err)
	granted, err := mayWrite(context.Background(), gdpr, zoe)
	fmt.Println("may write:", granted, err)
	// Output: may write: false <nil>
}

func mayWrite(ctx context.Context, gdpr *app.Integration, id domain.SubjectID) (bool, error) {
	stack, purpose, allowed := gdpr.Stack(), "newsletter", false
	err := stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		consent, err := stack.Consent.Status(ctx, s, id, purpose)
		if err != nil {
			return err
		}
		restriction, err := stack.Restriction.Status(ctx, s, id, &purpose)
		allowed = consent.Granted && !restriction.Restricted
		return err
	})
	return allowed, err
}

// Member has a name that its owner may correct without a review by staff.
type Member struct {
	bun.BaseModel `bun:"table:members"`

	ID   int64  `bun:"id,pk,autoincrement" subject:"id"`
	Name string `bun:"name" pii:"identity"`
}

func ExampleStack_rectification() {
	db, gdpr := openShop((*Member)(nil))
	ctx, member, name := context.Background(), &Member{ID: 42, Name: "Zoe Ypsilanti"}, "Zoe Xenakis"
	_, err := db.NewInsert().Model(member).Exec(ctx)
	check(err)
	subject, err := domain.NewSubject("42")
	check(err)

	err = gdpr.Stack().Sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
		corrections := domain.Corrections{domain.CategoryIdentity: name}
		result, err := gdpr.Stack().Rectifier.RectifySubject(ctx, session, subject, corrections)
		fmt.Println(result.Rectified)
		return err
	})
	check(err)
	check(db.NewSelect().Model(member).WherePK().Scan(ctx))
	fmt.Println(member.Name)
	// Output:
	// map[members:1]
	// Zoe Xenakis
}

// A sign-up writes the user and the consent in one transaction. Here, the transaction rolls back, so neither the user
// nor the consent is written.
func ExampleIntegration_Join() {
	ctx := context.Background()
	db, gdpr := openShop((*User)(nil))
	zoe, err := domain.NewSubjectID("42")
	check(err)
	err = db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewInsert().Model(&User{ID: 42, Email: "zoe@example.org"}).Exec(ctx); err != nil {
			return err
		}
		sessions, err := gdpr.Join(tx)
		if err != nil {
			return err
		}
		err = sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			_, err := gdpr.Stack().Consent.Record(ctx, s, zoe, domain.ConsentDecision{
				Purpose: "newsletter", PolicyVersion: "2024-03", Granted: true, Source: "sign-up form",
			})
			return err
		})
		return errors.Join(err, errors.New("the welcome mail could not be queued"))
	})
	fmt.Println(err)

	granted, err := mayWrite(ctx, gdpr, zoe)
	fmt.Println("may write:", granted, err)
	// Output:
	// the welcome mail could not be queued
	// may write: false <nil>
}

// An account was erased, and its number is given again. The sign-up calls Registered, so that the consent of the former
// person does not count for the new one.
func ExampleIntegration_Registered() {
	ctx := context.Background()
	db, gdpr := openShop((*User)(nil))
	account, err := domain.NewSubject("42")
	check(err)
	signUp := func(email string) error {
		return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
			user := &User{ID: 42, Email: email}
			_, err := tx.NewInsert().Model(user).On("CONFLICT (id) DO UPDATE").Set("email = EXCLUDED.email").Exec(ctx)
			if err != nil {
				return err
			}
			sessions, err := gdpr.Join(tx)
			if err != nil {
				return err
			}
			return sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
				return gdpr.Registered(ctx, s, account)
			})
		})
	}
	check(signUp("zoe@example.org"))
	check(gdpr.Sessions().Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Eraser.Erase(ctx, s, account)
		return err
	}))
	before, err := gdpr.Operator().SubjectState(ctx, account.ID)
	check(err)
	check(signUp("ann@example.org"))
	after, err := gdpr.Operator().SubjectState(ctx, account.ID)
	fmt.Println(before.Life, after.Life, err)
	// Output: ended new <nil>
}

// A test of the application uses Override. All routers use a store in memory until the test ends.
func ExampleSessionDependency_Override() {
	_, gdpr := openShop((*User)(nil))
	server := fiber.New()
	server.Route("/me", gdpr.Router(func(*fiber.Ctx) (domain.Subject, error) { return domain.NewSubject("42") }))

	store, err := memory.New(gdpr.Stack().DataMap, memory.Options{})
	check(err)
	check(store.Insert("users", memory.Row{"id": 42, "email": "zoe@example.org", "theme": "dark"}))
	defer gdpr.Sessions().Override(store)()

	response, err := server.Test(httptest.NewRequest(http.MethodDelete, "/me", nil))
	check(err)
	defer response.Body.Close()
	rows, err := store.Rows("users")
	check(err)
	fmt.Println(response.StatusCode, rows[0]["theme"], rows[0]["email"] == "zoe@example.org")
	// Output: 200 dark false
}

// openShop adds habeas to an application with one table, in an empty SQLite database in memory.
func openShop(model any) (*bun.DB, *app.Integration) {
	sqldb, err := sql.Open("sqlite", ":memory:")
	check(err)
	sqldb.SetMaxOpenConns(1)
	db := bun.NewDB(sqldb, sqlitedialect.New())
	_, err = db.NewCreateTable().Model(model).Exec(context.Background()) // the table of the application
	check(err)
	check(bunstore.Migrate(context.Background(), db, bunstore.Options{})) // the tables of habeas
	gdpr, err := app.New(app.Config{DB: db, Models: []any{model}})
	check(err)
	return db, gdpr
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
