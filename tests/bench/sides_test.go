package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// side is a measured server (hand-written, or with habeas) that runs in the test process.
type side struct {
	name     string
	server   *fiber.App
	database *bun.DB
}

// onBothDatabases runs a test with all measured servers on PostgreSQL, and with all measured servers on SQLite.
func onBothDatabases(t *testing.T, test func(t *testing.T, sides []side)) {
	t.Helper()
	const users = 5
	run := func(name string, made shop.Shop, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			var sides []side
			for _, name := range []string{endpoints.Floor, endpoints.Habeas} {
				databaseURL, err := made.Copy(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				application, closeDatabase, err := open(name, databaseURL, 2)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(closeDatabase)
				db, err := shop.Connect(databaseURL)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				sides = append(sides, side{name, application, db})
			}
			test(t, sides)
		})
	}
	made, err := shop.Create(t.Context(), postgres.Private(t).URL(), users)
	run("PostgreSQL", made, err)
	made, err = shop.CreateSQLite(t.Context(), t.TempDir(), users)
	run("SQLite", made, err)
}

// These patterns match values that differ between the responses of the servers: the current time, ids, sequence
// numbers, and the random texts that replace erased values.
var (
	instants   = regexp.MustCompile(`"((?:generat|record|complet|occurr|eras|enqueu|request)ed_at)": ?"[^"]*"`)
	ids        = regexp.MustCompile(`"(event_id|entry_id|operation_id)": ?"[^"]*"`)
	places     = regexp.MustCompile(`"(seq|intake)": ?[0-9]+`)
	surrogates = regexp.MustCompile(`anon-[0-9a-f]{32}`)
)

func comparable(t *testing.T, text []byte) any {
	t.Helper()
	text = instants.ReplaceAll(text, []byte(`"$1":"now"`))
	text = ids.ReplaceAll(text, []byte(`"$1":"new"`))
	text = places.ReplaceAll(text, []byte(`"$1":0`))
	text = surrogates.ReplaceAll(text, []byte(`anonymous`))
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	withoutRecordedAt(value)
	return value
}

// withoutRecordedAt replaces the values of the field recorded_at in an export, because each server records other
// instants.
func withoutRecordedAt(value any) {
	bundle, _ := value.(map[string]any)
	records, _ := bundle["records"].([]any)
	for _, record := range records {
		if record, _ := record.(map[string]any); record["field"] == "recorded_at" {
			record["value"] = "now"
		}
	}
}

func (s side) send(t *testing.T, method, path, user, body string) (int, []byte) {
	t.Helper()
	if method == registerAgain {
		const text = "UPDATE users SET email = 'zoe@example.com', name = 'Zoe', phone = '555' WHERE id = 2"
		if _, err := s.database.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		return http.StatusOK, []byte("{}")
	}
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

// table returns the rows of a table, as maps from columns to values. The databases of all servers have the same rows.
func (s side) table(t *testing.T, name, order string) any {
	t.Helper()
	var rows []map[string]any
	if err := s.database.NewRaw("SELECT * FROM "+name+" ORDER BY "+order).Scan(t.Context(), &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		delete(row, "added_at") // the hand-written program does not judge whether a row belongs to a new person

		for column, value := range row { // drivers return values of different Go types
			if text, ok := value.([]byte); ok {
				row[column] = json.RawMessage(text)
			}
			var decoded any
			if text, ok := value.(string); ok && strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &decoded) == nil {
				row[column] = decoded
			}
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return comparable(t, text)
}

func TestAllSidesDoTheSame(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, sides []side) {
		for _, step := range steps {
			t.Run(step.method+" "+step.path[:min(len(step.path), 30)]+" "+step.user, func(t *testing.T) {
				var first []byte
				for _, side := range sides {
					status, body := side.send(t, step.method, step.path, step.user, step.body)
					if status != step.want {
						t.Fatalf("%s: status %d, want %d: %s", side.name, status, step.want, body)
					}
					if first == nil {
						first = body
					}
					if status == http.StatusOK && !reflect.DeepEqual(comparable(t, first), comparable(t, body)) {
						t.Errorf("%s\n%s\n%s\n%s", sides[0].name, first, side.name, body)
					}
				}
			})
		}
		for table, order := range map[string]string{
			"users": "id", "addresses": "id", "logins": "id", "orders": "id", "invoices": "id",
			"habeas_consent_records": "seq", "habeas_outbox": "enqueued_at", "habeas_subject_erasures": "subject_id",
			"habeas_audit_events": "subject_ref, event_type, CAST(payload AS text)", "habeas_restriction_records": "seq",
		} {
			want := sides[0].table(t, table, order)
			for _, side := range sides[1:] {
				if got := side.table(t, table, order); !reflect.DeepEqual(want, got) {
					t.Errorf("%s:\n%s  %v\n%s %v", table, sides[0].name, want, side.name, got)
				}
			}
		}
	})
}

const granted = `{"purpose":"newsletter","policy_version":"2026-02","granted":true}`

// registerAgain is the method of the step in which a new person gets the number of the erased user 2.
const registerAgain = "REGISTER"

var steps = []struct {
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
	{"POST", "/me/consent", "Bearer 2", strings.Replace(granted, "true", "false", 1), 200}, // an erased user
	{"GET", "/me/consent/newsletter", "Bearer 2", "", 200},
	{registerAgain, "", "Bearer 2", "", 200},
	{"GET", "/me/consent/newsletter", "Bearer 2", "", 200},
	{"GET", "/me/export", "Bearer 2", "", 200},
	{"POST", "/me/consent", "Bearer 2", granted, 200},
	{"GET", "/me/consent/newsletter", "Bearer 2", "", 200},
	{"GET", "/me/export", "Bearer 99", "", 200}, // an unknown user

	{"GET", "/me/export", "", "", 401},
	{"DELETE", "/me", "Bearer x", "", 401},
	{"POST", "/me/consent", "Bearer 3", `{"purpose":`, 400},
	{"POST", "/me/consent", "Bearer 3", `{"purpose":"newsletter","policy_version":"2026-02"}`, 422},
	{"POST", "/me/consent", "Bearer 3", strings.Replace(granted, "newsletter", "", 1), 422},
	{"POST", "/me/consent", "Bearer 3", strings.Replace(granted, "2026-02", strings.Repeat("x", 256), 1), 422},
	{"GET", "/me/consent/" + strings.Repeat("x", 256), "Bearer 3", "", 422},
}
