package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/habeas-data/habeas/tests/postgres"
	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/habeas"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// side is one of both, in this process.
type side struct {
	name     string
	server   *fiber.App
	database *pgx.Conn
}

func sides(t *testing.T) []side {
	t.Helper()
	server := postgres.Private(t)
	const users = 5
	if err := shop.Create(t.Context(), server.URL(), users); err != nil {
		t.Fatal(err)
	}
	var both []side
	for _, name := range []string{endpoints.Floor, endpoints.Habeas} {
		databaseURL, err := shop.Copy(t.Context(), server.URL(), name)
		if err != nil {
			t.Fatal(err)
		}
		application, closeDatabase, err := open(name, databaseURL, habeas.DefaultDriver, 2)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(closeDatabase)
		connection, err := pgx.Connect(t.Context(), databaseURL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close(context.Background()) })
		both = append(both, side{name, application, connection})
	}
	return both
}

// What is different each time: instants of today, ids, surrogates; and the order in which the steps of an erasure come,
// which is anybody's choice.
var (
	instants   = regexp.MustCompile(`"(generated_at|recorded_at|completed_at|occurred_at|erased_at|enqueued_at)": ?"[^"]*"`)
	ids        = regexp.MustCompile(`"(event_id|entry_id)": ?"[^"]*"`)
	places     = regexp.MustCompile(`"seq": ?[0-9]+`)
	surrogates = regexp.MustCompile(`anon-[0-9a-f]{32}`)
)

func comparable(t *testing.T, text []byte) any {
	t.Helper()
	text = instants.ReplaceAll(text, []byte(`"$1":"now"`))
	text = ids.ReplaceAll(text, []byte(`"$1":"new"`))
	text = places.ReplaceAll(text, []byte(`"seq":0`))
	text = surrogates.ReplaceAll(text, []byte(`anonymous`))
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	withoutIntake(value)
	return value
}

// withoutIntake takes the instants of the ledgers' lines out of an export.
func withoutIntake(value any) {
	bundle, _ := value.(map[string]any)
	records, _ := bundle["records"].([]any)
	for _, record := range records {
		if record, _ := record.(map[string]any); record["field"] == "recorded_at" {
			record["value"] = "now"
		}
	}
}

func (s side) ask(t *testing.T, method, path, user, body string) (int, []byte) {
	t.Helper()
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	request.Header.Set("Authorization", user)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.server.Test(request, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, text
}

func (s side) table(t *testing.T, name, order string) any {
	t.Helper()
	var text []byte
	err := s.database.QueryRow(t.Context(),
		fmt.Sprintf("SELECT coalesce(json_agg(t ORDER BY %s), '[]') FROM %s AS t", order, name)).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return comparable(t, text)
}

func TestBothSidesDoTheSame(t *testing.T) {
	both := sides(t)
	floor, library := both[0], both[1]
	const granted = `{"purpose":"newsletter","policy_version":"2026-02","granted":true}`
	for _, step := range []struct {
		method, path, user, body string
		want                     int
	}{
		{"POST", "/me/consent", "Bearer 1", granted, 200},
		{"GET", "/me/consent/newsletter", "Bearer 1", "", 200},
		{"POST", "/me/consent", "Bearer 1", strings.Replace(granted, "true", "false", 1), 200},
		{"GET", "/me/consent/newsletter", "Bearer 1", "", 200},
		{"GET", "/me/consent/analytics", "Bearer 2", "", 200},
		{"GET", "/me/consent/nothing%20yet", "Bearer 2", "", 200},
		{"GET", "/me/export", "Bearer 2", "", 200},
		{"DELETE", "/me", "Bearer 2", "", 200},
		{"GET", "/me/export", "Bearer 2", "", 200},
		{"DELETE", "/me", "Bearer 2", "", 200},
		{"GET", "/me/export", "Bearer 99", "", 200}, // whom nobody knows

		{"GET", "/me/export", "", "", 401},
		{"DELETE", "/me", "Bearer x", "", 401},
		{"POST", "/me/consent", "Bearer 3", `{"purpose":`, 400},
		{"POST", "/me/consent", "Bearer 3", `{"purpose":"newsletter","policy_version":"2026-02"}`, 422},
		{"POST", "/me/consent", "Bearer 3", strings.Replace(granted, "newsletter", "", 1), 422},
		{"POST", "/me/consent", "Bearer 3", strings.Replace(granted, "2026-02", strings.Repeat("x", 256), 1), 422},
		{"GET", "/me/consent/" + strings.Repeat("x", 256), "Bearer 3", "", 422},
	} {
		t.Run(step.method+" "+step.path[:min(len(step.path), 30)]+" "+step.user, func(t *testing.T) {
			floorStatus, floorBody := floor.ask(t, step.method, step.path, step.user, step.body)
			status, body := library.ask(t, step.method, step.path, step.user, step.body)
			if floorStatus != step.want || status != step.want {
				t.Fatalf("status: floor %d, habeas %d, want %d", floorStatus, status, step.want)
			}
			if status == http.StatusOK && !reflect.DeepEqual(comparable(t, floorBody), comparable(t, body)) {
				t.Errorf("floor  %s\nhabeas %s", floorBody, body)
			}
		})
	}
	for table, order := range map[string]string{
		"users": "id", "addresses": "id", "logins": "id", "orders": "id", "invoices": "id",
		"habeas_consent_records": "seq", "habeas_audit_events": "subject_ref, event_type, payload", "habeas_outbox": "enqueued_at",
		"habeas_subject_erasures": "subject_id", "habeas_restriction_records": "seq",
	} {
		if want, got := floor.table(t, table, order), library.table(t, table, order); !reflect.DeepEqual(want, got) {
			t.Errorf("%s:\nfloor  %v\nhabeas %v", table, want, got)
		}
	}
}

func TestAnExportIsAsLargeAsItIsMeantToBe(t *testing.T) {
	for _, side := range sides(t) {
		_, body := side.ask(t, "GET", "/me/export", "Bearer 3", "")
		var bundle struct{ Records []struct{ Source string } }
		if err := json.Unmarshal(body, &bundle); err != nil {
			t.Fatal(err)
		}
		bySource := map[string]int{}
		for _, record := range bundle.Records {
			bySource[record.Source]++
		}
		// Annotated columns by rows.
		want := map[string]int{"users": 4 * 1, "addresses": 4 * 2, "logins": 3 * 5, "orders": 3 * 20, "invoices": 3 * 5, "habeas_consent_records": 5 * 2}
		if !reflect.DeepEqual(bySource, want) {
			t.Errorf("%s: %v, want %v", side.name, bySource, want)
		}
	}
}
