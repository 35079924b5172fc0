package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/ports"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// fixture is an API over a fake session factory. The fixture also has the log of the API.
type fixture struct {
	*httpapi.API
	config   httpapi.Config
	sessions *sessions
	logged   *bytes.Buffer
}

func newFixture(t *testing.T, adjust ...func(*httpapi.Config)) fixture {
	t.Helper()
	f := fixture{sessions: &sessions{}, logged: &bytes.Buffer{}}
	systems := []ports.Resolver{desk{name: "supportdesk"}, desk{name: "newsletter", err: errors.New("asleep")}}
	f.config = httpapi.Config{
		Sessions:    f.sessions,
		Consent:     consent.NewLedger(clock{}, ids{}),
		Restriction: restriction.NewLedger(clock{}, ids{}),
		DataMap:     dataMap(t),
		Logger:      slog.New(slog.NewJSONHandler(f.logged, nil)),
	}
	var err error
	f.config.Export, err = export.NewExporter(
		export.Config{Clock: clock{}, IDs: ids{}, DataMap: f.config.DataMap, Resolvers: systems},
	)
	require(t, err)
	f.config.Erasure, err = erasure.NewEraser(erasure.Config{
		Clock: clock{}, IDs: ids{}, DataMap: f.config.DataMap, Resolvers: systems,
	})
	require(t, err)
	for _, change := range adjust {
		change(&f.config)
	}
	f.API, err = httpapi.New(f.config)
	require(t, err)
	f.API = f.With(httpapi.WithRestriction())
	return f
}

// dataMap has three tables. An erasure deletes the rows of the first table, anonymizes the rows of the second table,
// and retains the rows of the third table.
func dataMap(t *testing.T) datamap.DataMap {
	t.Helper()
	personal := func(name string, strategy domain.Strategy) datamap.Column {
		annotation := &datamap.Annotation{Category: domain.CategoryContact, Strategy: strategy}
		if strategy == domain.StrategyRetain {
			annotation.Reason = "§147 AO"
		}
		return datamap.Column{Name: name, Type: datamap.TypeText, Personal: annotation}
	}
	key := datamap.Column{Name: "id", Type: datamap.TypeBigInt}
	user := datamap.Column{Name: "user_id", Type: datamap.TypeBigInt}
	toUser := []datamap.Relation{{Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"}}}
	m, err := datamap.NewDataMap(
		datamap.Table{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{key, personal("email", domain.StrategyAnonymize)},
		},
		datamap.Table{
			Name: "carts", PrimaryKey: []string{"id"}, Relations: toUser,
			Columns: []datamap.Column{key, user, personal("note", domain.StrategyDelete)},
		},
		datamap.Table{
			Name: "invoices", PrimaryKey: []string{"id"}, Relations: toUser,
			Columns: []datamap.Column{key, user, personal("address", domain.StrategyRetain)},
		},
	)
	require(t, err)
	return m
}

// as returns a Request.Subject that always returns the same subject.
func as(id string, refs ...domain.SubjectRef) func(context.Context) (domain.Subject, error) {
	return func(context.Context) (domain.Subject, error) { return domain.NewSubject(id, refs...) }
}

// failing returns a Request.Subject that always fails.
func failing(err error) func(context.Context) (domain.Subject, error) {
	return func(context.Context) (domain.Subject, error) { return domain.Subject{}, err }
}

// jsonBody returns a request of subject 42 whose body is sent as JSON.
func jsonBody(body string) httpapi.Request {
	return httpapi.Request{Subject: as("42"), ContentType: "application/json", Body: strings.NewReader(body)}
}

// call sends a request to the endpoint with the given operation id, such as "recordConsent".
func (f fixture) call(t *testing.T, operation string, r httpapi.Request) httpapi.Response {
	t.Helper()
	endpoints := f.Endpoints()
	i := slices.IndexFunc(endpoints, func(e httpapi.Endpoint) bool { return e.OperationID == operation })
	if i < 0 {
		t.Fatalf("there is no endpoint %s", operation)
	}
	return f.Handle(t.Context(), endpoints[i], r)
}

// problemOf decodes a problem document. It also checks the rules that hold for every problem document.
func problemOf(t *testing.T, response httpapi.Response) httpapi.Problem {
	t.Helper()
	var problem httpapi.Problem
	decoder := json.NewDecoder(bytes.NewReader(response.Body))
	decoder.DisallowUnknownFields()
	require(t, decoder.Decode(&problem))
	if problem.Status != response.Status || problem.Type != "about:blank" || problem.Title == "" || problem.Detail == "" {
		t.Errorf("not a complete problem document: status %d, body %s", response.Status, response.Body)
	}
	if got := response.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type is %q", got)
	}
	return problem
}

// decode checks that the response is a success, and decodes its body.
func decode[T any](t *testing.T, response httpapi.Response) T {
	t.Helper()
	var result T
	if response.Status != 200 {
		t.Fatalf("got status %d %s", response.Status, response.Body)
	}
	require(t, json.Unmarshal(response.Body, &result))
	return result
}

// golden compares the status, the header and the body of a response with a golden file.
func golden(t *testing.T, name string, response httpapi.Response) {
	t.Helper()
	var sent strings.Builder
	fmt.Fprintf(&sent, "%d\n", response.Status)
	for _, header := range slices.Sorted(maps.Keys(response.Header)) {
		fmt.Fprintf(&sent, "%s: %s\n", header, strings.Join(response.Header[header], ", "))
	}
	fmt.Fprintf(&sent, "\n%s", response.Body)
	goldenFile(t, name+".http", []byte(sent.String()))
}

func goldenFile(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require(t, os.WriteFile(path, got, 0o600))
		return
	}
	want, err := os.ReadFile(path)
	require(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s has changed, but it is public API; got\n%s\nwant\n%s", path, got, want)
	}
}

func require(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryPartOfTheConfigurationIsRequired(t *testing.T) {
	whole := newFixture(t).config
	for field, remove := range map[string]func(*httpapi.Config){
		"Sessions":    func(c *httpapi.Config) { c.Sessions = nil },
		"Consent":     func(c *httpapi.Config) { c.Consent = nil },
		"Restriction": func(c *httpapi.Config) { c.Restriction = nil },
		"Export":      func(c *httpapi.Config) { c.Export = nil },
		"Erasure":     func(c *httpapi.Config) { c.Erasure = nil },
		"DataMap":     func(c *httpapi.Config) { c.DataMap = datamap.DataMap{} },
		"Timeout":     func(c *httpapi.Config) { c.Timeout = -time.Second },
	} {
		config := whole
		remove(&config)
		_, err := httpapi.New(config)
		if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), field) {
			t.Errorf("without %s: %v", field, err)
		}
	}
}

func TestRestrictionRoutesExistOnlyWithTheOption(t *testing.T) {
	paths := func(a *httpapi.API) string {
		var all []string
		for _, endpoint := range a.Endpoints() {
			all = append(all, endpoint.Method+" "+endpoint.Path)
		}
		return strings.Join(all, ", ")
	}
	plain, err := httpapi.New(newFixture(t).config)
	require(t, err)
	const four = "POST /consent, GET /consent/{purpose}, GET /export, DELETE /"
	if got := paths(plain); got != four {
		t.Errorf("got %s", got)
	}
	if got := paths(plain.With(httpapi.WithRestriction())); got != four+", POST /restriction, GET /restriction" {
		t.Errorf("got %s", got)
	}
	if got := paths(plain); got != four {
		t.Errorf("With changed the API itself: %s", got)
	}
}

func TestAnAPICanBeDerivedWithOtherSessions(t *testing.T) {
	f, other := newFixture(t), &sessions{}
	derived := f
	derived.API = f.With(httpapi.WithSession(other), httpapi.WithSession(nil))
	derived.call(t, "exportPersonalData", httpapi.Request{Subject: as("42")})
	if f.sessions.Opened != 0 || other.Opened != 1 {
		t.Errorf("opened %d sessions of the original and %d of the other factory", f.sessions.Opened, other.Opened)
	}
}
