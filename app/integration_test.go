package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// models are the models of most tests: the customers of the shop.
var models = shop.Models[:1:1]

func newIntegration(t *testing.T) (*app.Integration, *bun.DB) {
	t.Helper()
	db := databases.SQLite(t)
	shop.Open(t, db, models)
	gdpr, err := app.New(app.Config{DB: db, Models: models})
	must(t, err)
	return gdpr, db
}

func anna(*fiber.Ctx) (domain.Subject, error) { return domain.NewSubject("1") }

func TestAnIntegrationNeedsModelsOrAStack(t *testing.T) {
	gdpr, db := newIntegration(t)
	wired := gdpr.Stack()
	incomplete := wired
	incomplete.Eraser = nil
	dataMap := wired.DataMap
	for name, test := range map[string]struct {
		config app.Config
		says   string // part of the error; empty for no error
	}{
		"models":               {app.Config{DB: db, Models: models}, ""},
		"a data map":           {app.Config{DB: db, DataMap: dataMap}, ""},
		"a stack":              {app.Config{Stack: &wired}, ""},
		"nothing":              {app.Config{}, "DB and Models, or Stack"},
		"both":                 {app.Config{DB: db, Models: models, Stack: &wired}, "not both"},
		"a stack with a rest":  {app.Config{Stack: &wired, Schema: "x"}, "not both"},
		"models without DB":    {app.Config{Models: models}, "DB is missing"},
		"DB without models":    {app.Config{DB: db}, "one of Models and DataMap"},
		"models and data map":  {app.Config{DB: db, Models: models, DataMap: dataMap}, "one of Models and DataMap"},
		"an incomplete stack":  {app.Config{Stack: &incomplete}, "no Eraser"},
		"a schema on SQLite":   {app.Config{DB: db, Models: models, Schema: "x"}, "no schemas"},
		"a negative timeout":   {app.Config{DB: db, Models: models, RequestTimeout: -1}, "negative"},
		"a stack and a saga":   {app.Config{Stack: &wired, Options: limits(1)}, "not both"},
		"a stack and a clock":  {app.Config{Stack: &wired, Clock: system.Clock{}}, "not both"},
		"a negative batch":     {app.Config{DB: db, Models: models, Options: limits(-1)}, "negative"},
		"negative workers":     {app.Config{DB: db, Models: models, Workers: -1}, "negative"},
		"a negative wait":      {app.Config{DB: db, Models: models, Options: stack.Options{ResolverTimeout: -1}}, "negative"},
		"two of a name":        {app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{nil}}, "nil"},
		"a stack and purposes": {app.Config{Stack: &wired, Purposes: []domain.Purpose{{Name: "news"}}}, "not both"},
		"a purpose twice": {
			app.Config{DB: db, Models: models, Purposes: []domain.Purpose{{Name: "news"}, {Name: "news"}}}, "declared twice",
		},
		"a nameless purpose":   {app.Config{DB: db, Models: models, Purposes: []domain.Purpose{{}}}, "must not be empty"},
		"a stack and resolver": {app.Config{Stack: &wired, Resolvers: []ports.Resolver{nil}}, "not both"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := app.New(test.config)
			if test.says == "" {
				must(t, err)
				return
			}
			if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDeclaredPurposesReachTheRouterAndTheTrail(t *testing.T) {
	gdpr, db := newIntegration(t)
	send := served(t, db, "news", "ads")
	send("POST", "/me/consent", `{"granted":true,"policy_version":"v1","purpose":"ads"}`, 200)
	send("POST", "/me/consent", `{"granted":true,"policy_version":"v1","purpose":"other"}`, 422)
	all := send("GET", "/me/consent", "", 200)
	if !strings.HasPrefix(all, `{"subject_id":"1","consents":[{"subject_id":"1","purpose":"news","granted":false,`) ||
		!strings.Contains(all, `"purpose":"ads","granted":true,"policy_version":"v1"`) {
		t.Errorf("got %s", all)
	}
	send("DELETE", "/me", "", 200)
	must(t, gdpr.Sessions().Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		id := fixture.MustID(t, "1")
		trail, err := s.Audit().Trail(ctx, id)
		var recorded []string
		for _, event := range trail {
			if purpose, ok := event.Payload["purpose"]; ok {
				recorded = append(recorded, fmt.Sprint(event.EventType, " ", purpose, " ", event.Payload["policy_version"], " ",
					event.Payload["source"]))
			}
		}
		if want := []string{"consent_granted ads v1 api", "consent_withdrawn ads v1 erasure"}; !slices.Equal(recorded, want) {
			t.Errorf("the trail has %q, want %q", recorded, want)
		}
		return err
	}))
}

// limits returns options in which batch is the maximum number of outbox entries in a batch.
func limits(batch int) stack.Options { return stack.Options{Saga: saga.Options{Batch: batch}} }

// forgetful is an external system without data.
type forgetful struct{ ports.Resolver }

func (forgetful) Name() string { return "desk" }

func (forgetful) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	return true, nil
}

func TestTheApplicationConfiguresTheSaga(t *testing.T) {
	_, db := newIntegration(t)
	config := app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{forgetful{}}}
	config.Saga.Batch = 2
	gdpr, err := app.New(config)
	must(t, err)
	for id := range 3 {
		subject := fixture.MustSubject(t, fmt.Sprint(id), domain.SubjectRef{Kind: "desk", Value: "c"})
		_, err = gdpr.Operator().Erase(t.Context(), subject)
		must(t, err)
	}
	for _, want := range []int{2, 1} {
		if settled, err := gdpr.Stack().Runner.RunOnce(t.Context()); err != nil || settled != want {
			t.Errorf("settled %d, want %d: %v", settled, want, err)
		}
	}
}

type Unannotated struct {
	bun.BaseModel `bun:"table:unannotated"`
	ID            int64 `bun:"id,pk"`
}

type Ledger struct {
	bun.BaseModel `bun:"table:ledgers"`
	ID            int64   `bun:"id,pk"`
	OwnedID       int64   `bun:"owned_id"`
	Owned         *Wallet `bun:"rel:belongs-to,join:owned_id=id"`
	Entry         string  `bun:"entry" pii:"financial,erasure:retain,reason:'books'"`
}

type Wallet struct {
	bun.BaseModel `bun:"table:wallets" subject:"owned"`
	ID            int64          `bun:"id,pk"`
	CustomerID    int64          `bun:"customer_id"`
	Customer      *shop.Customer `bun:"rel:belongs-to,join:customer_id=id"`
}

func TestMistakesInTheModelsShowAtStartUp(t *testing.T) {
	_, db := newIntegration(t)
	for name, test := range map[string]struct {
		models []any
		code   domain.Code
		says   string
	}{
		"no subject":  {[]any{(*Unannotated)(nil)}, domain.ErrManifest, "subject"},
		"unreachable": {[]any{(*shop.Customer)(nil), (*Unannotated)(nil)}, domain.ErrManifest, "unannotated"},
		"retained, but owned": {
			[]any{(*shop.Customer)(nil), (*Wallet)(nil), (*Ledger)(nil)}, domain.ErrRetention, "ledgers.entry",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := app.New(app.Config{DB: db, Models: test.models})
			if !errors.Is(err, test.code) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Contact has mistakes in its struct tags. Another mistake appears only when the erasure plan is made.
type Contact struct {
	bun.BaseModel `bun:"table:contacts"`
	ID            int64          `bun:"id,pk"`
	CustomerID    int64          `bun:"customer_id"`
	Customer      *shop.Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Password      string         `bun:"password" pii:"technical"`
	Phone         string         `bun:"phone" pii:"contact,erasure:delete,colour:blue"`
	Theme         string         `bun:"theme"`
}

func TestOneErrorListsAllMistakesInTheModels(t *testing.T) {
	_, db := newIntegration(t)
	_, err := app.New(app.Config{DB: db, Models: []any{
		(*Contact)(nil), (*shop.Customer)(nil), (*Wallet)(nil), (*Ledger)(nil), (*Unannotated)(nil),
	}})
	var got []string
	for _, problem := range domain.Problems(err) {
		got = append(got, problem.Where()+" "+problem.Found)
	}
	want := []string{
		"contacts.password ", "contacts.phone colour", "contacts.phone delete", "ledgers.entry ", "unannotated ",
	}
	if !slices.Equal(got, want) || !errors.Is(err, domain.ErrManifest) {
		t.Errorf("got  %q\nwant %q\n%v", got, want, err)
	}
}

// counted counts sessions and passes them on.
type counted struct {
	ports.SessionFactory
	n int
}

func (c *counted) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	c.n++
	return c.SessionFactory.Do(ctx, fn)
}

func TestOverrideAffectsEveryRouterExceptThoseWithTheirOwnSession(t *testing.T) {
	gdpr, _ := newIntegration(t)
	own := &counted{SessionFactory: gdpr.Stack().Sessions}
	server := fiber.New()
	server.Route("/a", gdpr.Router(anna))
	gdpr.Router(anna)(server.Group("/b"))
	server.Route("/c", gdpr.Router(anna, app.WithSession(own)))

	override := &counted{SessionFactory: gdpr.Stack().Sessions}
	restore := gdpr.Sessions().Override(override)
	get := func(want int) {
		t.Helper()
		for _, prefix := range []string{"/a", "/b", "/c"} {
			response, err := server.Test(httptest.NewRequest(http.MethodGet, prefix+"/consent/p", nil))
			must(t, err)
			_ = response.Body.Close()
			if response.StatusCode != want && prefix != "/c" {
				t.Errorf("%s: %d", prefix, response.StatusCode)
			}
		}
	}
	get(http.StatusOK)
	if override.n != 2 || own.n != 1 {
		t.Errorf("the override has %d sessions, the factory of the router %d", override.n, own.n)
	}
	restore()
	get(http.StatusOK)
	if override.n != 2 {
		t.Error("the override is still in force after its restore")
	}
	for _, broken := range []ports.SessionFactory{nil, gdpr.Sessions()} {
		restore := gdpr.Sessions().Override(broken)
		get(http.StatusInternalServerError)
		restore()
	}
}

func TestOpenAPIDescribesTheRoutesThatAreMounted(t *testing.T) {
	gdpr, _ := newIntegration(t)
	if _, err := gdpr.OpenAPI("/me"); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("nothing is mounted, got %v", err)
	}
	server := fiber.New()
	server.Route("/me", gdpr.Router(anna, app.WithTags("privacy")))
	only := paths(t, gdpr, "/outer/me") // the server is mounted by another server
	server.Group("/api").Route("/you", gdpr.Router(anna, app.WithRestriction()))

	me, you := paths(t, gdpr, "/me"), paths(t, gdpr, "/api/you")
	if want := []string{"/me", "/me/consent", "/me/consent/{purpose}", "/me/export"}; !slices.Equal(me, want) {
		t.Errorf("me: %v", me)
	}
	if !slices.Contains(you, "/api/you/restriction") || slices.Contains(me, "/me/restriction") {
		t.Errorf("you: %v", you)
	}
	if !slices.Contains(only, "/outer/me/consent") {
		t.Errorf("only: %v", only)
	}
	if _, err := gdpr.OpenAPI("/elsewhere"); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("elsewhere: %v", err)
	}
}

// A Fiber group does not know the prefix at which its application is mounted. Two applications may have groups with the
// same prefix.
func TestOpenAPIIncludesRoutersOfMountedApplications(t *testing.T) {
	gdpr, _ := newIntegration(t)
	server, shop, staff := fiber.New(), fiber.New(), fiber.New()
	gdpr.Router(anna)(shop)
	gdpr.Router(anna, app.WithRestriction())(staff)
	server.Mount("/shop/me", shop)
	server.Group("/staff").Mount("/me", staff)
	groups := fiber.New()
	groups.Route("/clerk/me", gdpr.Router(anna, app.WithRestriction()))
	groups.Route("/me", gdpr.Router(anna))
	server.Mount("/groups", groups)

	for prefix, restricts := range map[string]bool{
		"/shop/me": false, "/staff/me": true, "/groups/clerk/me": true, "/groups/me/": false,
	} {
		found := paths(t, gdpr, prefix)
		prefix = strings.TrimSuffix(prefix, "/")
		if !slices.Contains(found, prefix+"/consent") || slices.Contains(found, prefix+"/restriction") != restricts {
			t.Errorf("%s: %v", prefix, found)
		}
	}
	if _, err := gdpr.OpenAPI("/groups/home"); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}

func paths(t *testing.T, gdpr *app.Integration, prefix string) []string {
	t.Helper()
	text, err := gdpr.OpenAPI(prefix)
	must(t, err)
	var document struct{ Paths map[string]any }
	must(t, json.Unmarshal(text, &document))
	return slices.Sorted(maps.Keys(document.Paths))
}

func TestJoinNeedsAStoreOfItsOwn(t *testing.T) {
	gdpr, db := newIntegration(t)
	must(t, db.RunInTx(context.Background(), nil, func(ctx context.Context, tx bun.Tx) error {
		sessions, err := gdpr.Join(tx)
		must(t, err)
		return sessions.Do(ctx, func(context.Context, ports.Session) error { return nil })
	}))
	wired := gdpr.Stack()
	prewired, err := app.New(app.Config{Stack: &wired})
	must(t, err)
	if _, err := prewired.Join(db); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}

// All parts of an Integration have the clock and the ids of the stack, not only its services.
func TestAStackBringsItsClockAndIDs(t *testing.T) {
	gdpr, _ := newIntegration(t)
	installation, err := gdpr.Operator().Installation(t.Context())
	must(t, err)
	clock := &shiftedClock{}
	clock.pass(-1000 * time.Hour)
	wired, err := stack.New(stack.Config{
		Sessions: gdpr.Sessions(), DataMap: gdpr.DataMap(), Clock: clock, Options: stack.Options{IDs: &fixture.IDs{}},
	})
	must(t, err)
	gdpr, err = app.New(app.Config{Stack: &wired})
	must(t, err)
	gdpr.Worker().Start()
	if last, _ := gdpr.Worker().Heartbeat(); last.After(clock.Now()) {
		t.Errorf("the heartbeat is at %v", last)
	}
	must(t, gdpr.Worker().Stop(time.Minute))
	line := strings.NewReader(`{"v":2,"installation":"` + installation.ID + `","number":1,"after":0,"subject":["1"],` +
		`"erased_at":"2024-04-02T12:00:00Z"}` + "\n")
	_, err = gdpr.Operator().Replay(t.Context(), line, app.ReplayOptions{})
	if !errors.Is(err, replay.ErrIncomplete) { // the ids of customers can be given again
		t.Fatal(err)
	}
	for _, event := range fixture.Trail(t, gdpr.Sessions(), fixture.MustID(t, "1")) {
		if !strings.HasPrefix(event.EventID, "id-") || event.OccurredAt.After(clock.Now()) {
			t.Errorf("%s has the id %s and the instant %v", event.EventType, event.EventID, event.OccurredAt)
		}
	}
}

var must = fixture.Must
