package app_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// lacking is a character that LATIN1 lacks.
const lacking = "🙂"

// Correspondent is a subject with a text as id.
type Correspondent struct {
	bun.BaseModel `bun:"table:correspondents"`
	Name          string `bun:"name,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

// inLATIN1 returns an application on a database in LATIN1 with one person, and its log.
func inLATIN1(t *testing.T, models ...any) (*app.Integration, *bytes.Buffer) {
	t.Helper()
	db := databases.Driver{Name: "PostgreSQL", SQL: "pgx"}.Open(t, databases.Encoded(t, "LATIN1")("client_encoding=UTF8"))
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	databases.Create(t, db, (*Correspondent)(nil), (*Letter)(nil))
	databases.Insert(t, db, &Correspondent{Name: "zoë", Email: "zoe@example.org"})
	log := &bytes.Buffer{}
	gdpr, err := app.New(app.Config{DB: db, Models: models, Logger: slog.New(slog.NewTextHandler(log, nil))})
	must(t, err)
	return gdpr, log
}

// overBothRouters sends a request with a JSON body over both routers. It returns the status and the body of each
// response.
func overBothRouters(t *testing.T, gdpr *app.Integration, id, method, path, body string) (answers []string) {
	t.Helper()
	subject := func() (domain.Subject, error) { return domain.NewSubject(id) }
	server := fiber.New()
	server.Route("/me", gdpr.Router(func(*fiber.Ctx) (domain.Subject, error) { return subject() }, app.WithRestriction()))
	request := func() *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), method, "/me"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	response, err := server.Test(request(), -1)
	must(t, err)
	sent, err := io.ReadAll(response.Body)
	must(t, err)
	must(t, response.Body.Close())
	recorded := httptest.NewRecorder()
	gdpr.Handler("/me", func(*http.Request) (domain.Subject, error) { return subject() }, app.WithRestriction()).
		ServeHTTP(recorded, request())
	return []string{fmt.Sprint(response.StatusCode, " ", string(sent)), fmt.Sprint(recorded.Code, " ", recorded.Body)}
}

func TestACharacterThatTheEncodingOfTheDatabaseLacksIsTheClientsMistake(t *testing.T) {
	gdpr, log := inLATIN1(t, (*Correspondent)(nil))
	for _, r := range []struct{ id, method, path, body string }{
		{"zoë", "POST", "/consent", `{"granted":true,"policy_version":"1","purpose":"` + lacking + `"}`},
		{"zoë", "POST", "/consent", `{"granted":true,"policy_version":"` + lacking + `","purpose":"ads"}`},
		{"zoë", "GET", "/consent/" + url.PathEscape(lacking), ""},
		{"zoë", "POST", "/restriction", `{"restricted":true,"purpose":"` + lacking + `"}`},
		{"zoë", "POST", "/restriction", `{"restricted":true,"reason":"` + lacking + `"}`},
		{"zoë", "GET", "/restriction?purpose=" + url.QueryEscape(lacking), ""},
		{lacking, "POST", "/consent", `{"granted":true,"policy_version":"1","purpose":"ads"}`},
		{lacking, "GET", "/consent/ads", ""},
		{lacking, "POST", "/restriction", `{"restricted":true}`},
		{lacking, "GET", "/restriction", ""},
		{lacking, "GET", "/export", ""},
		{lacking, "DELETE", "/", ""},
	} {
		for _, got := range overBothRouters(t, gdpr, r.id, r.method, r.path, r.body) {
			if !strings.HasPrefix(got, `422 {"type":"about:blank","title":"Unprocessable Entity"`) || strings.Contains(got,
				lacking) {
				t.Errorf("%s %s of %s: %s", r.method, r.path, r.id, got)
			}
		}
	}
	if strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("logged %s", log)
	}
	for _, got := range overBothRouters(t, gdpr, "zoë", "GET", "/consent/ä", "") {
		if !strings.HasPrefix(got, "200") {
			t.Errorf("a character of the encoding: %s", got)
		}
	}
}

// Decorated is a Correspondent whose surrogate has a character that LATIN1 lacks.
type Decorated struct {
	bun.BaseModel `bun:"table:correspondents"`
	Name          string `bun:"name,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize,surrogate:'🙂'"`
}

// Letter belongs to a Correspondent under a condition with such a character.
type Letter struct {
	bun.BaseModel `bun:"table:letters" subject:"owned"`
	ID            int64          `bun:"id,pk"`
	Kind          string         `bun:"kind"`
	Name          string         `bun:"name"`
	By            *Correspondent `bun:"rel:belongs-to,join:name=name" subject:"path,when:'kind=🙂'"`
	Body          string         `bun:"body" pii:"communication"`
}

func TestATextOfTheDataMapThatTheDatabaseLacksIsFoundAtTheStart(t *testing.T) {
	for column, models := range map[string][]any{
		"correspondents.email: has a surrogate": {(*Decorated)(nil)},
		"letters.kind: has a condition":         {(*Correspondent)(nil), (*Letter)(nil)},
	} {
		gdpr, _ := inLATIN1(t, models...)
		_, ofLint := gdpr.Operator().Catalog(t.Context())
		for _, err := range []error{gdpr.Sessions().Probe(t.Context()), ofLint} {
			fixture.WantCode(t, err, domain.ErrManifest)
			if !strings.Contains(err.Error(), column) || strings.Contains(err.Error(), lacking) {
				t.Errorf("%s: %v", column, err)
			}
		}
		for _, got := range overBothRouters(t, gdpr, "zoë", "DELETE", "/", "") {
			if !strings.HasPrefix(got, "422") {
				t.Errorf("%s: %s", column, got)
			}
		}
	}
}
