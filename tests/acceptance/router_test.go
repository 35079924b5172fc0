package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

func consentBody(purpose string) string {
	body, _ := json.Marshal(map[string]any{"purpose": purpose, "policy_version": "1", "granted": true})
	return string(body)
}

func TestARequestOpensOneTransactionAtMost(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newHost(t, db, 1)
		for _, request := range []struct{ method, path, body string }{
			{http.MethodPost, "/me/consent", consentBody("newsletter")},
			{http.MethodGet, "/me/consent/newsletter", ""},
			{http.MethodPost, "/me/restriction", `{"restricted":true}`},
			{http.MethodGet, "/me/restriction", ""},
			{http.MethodGet, "/me/export", ""},
			{http.MethodDelete, "/me", ""},
		} {
			begins, statements := s.hook.during(func() {
				if status, body := s.send("1", request.method, request.path, request.body); status != http.StatusOK {
					t.Errorf("%s %s: %d %s", request.method, request.path, status, body)
				}
			})
			if begins > 1 || statements == 0 {
				t.Errorf("%s %s: %d transactions, %d statements", request.method, request.path, begins, statements)
			}
		}
	})
}

func TestARefusedRequestTouchesNoDatabase(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newHost(t, db, 1)
		for _, request := range []struct {
			customer, method, path, body string
			status                       int
		}{
			{"1", http.MethodPost, "/me/consent", `{`, http.StatusBadRequest},
			{"", http.MethodGet, "/me/export", ``, http.StatusUnauthorized},
			{"1", http.MethodGet, "/me/nothing", ``, http.StatusNotFound},
			{"1", http.MethodPut, "/me/consent", ``, http.StatusMethodNotAllowed},
			{"1", http.MethodPost, "/me/consent", strings.Repeat(" ", 65<<10), http.StatusRequestEntityTooLarge},
			{"1", http.MethodPost, "/me/consent", consentBody(strings.Repeat("𝔸", 256)), http.StatusUnprocessableEntity},
			{"1", http.MethodGet, "/me/consent/" + strings.Repeat("a", 256), ``, http.StatusUnprocessableEntity},
			{"1", http.MethodPost, "/me/restriction", `{"restricted":1}`, http.StatusUnprocessableEntity},
			{"one", http.MethodDelete, "/me", ``, http.StatusInternalServerError},
		} {
			_, statements := s.hook.during(func() {
				if status, body := s.send(request.customer, request.method, request.path, request.body); status != request.status {
					t.Errorf("%s %s: %d %s, expected %d", request.method, request.path, status, body, request.status)
				}
			})
			if statements > 0 {
				t.Errorf("%s %s: %d statements", request.method, request.path, statements)
			}
		}
		if rows := s.rows(); rows > 0 {
			t.Errorf("%d rows", rows)
		}
	})
}

func TestTheServerSetsWhatTheClientMustNot(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newHost(t, db, 1)
		for _, field := range []string{"subject_id", "recorded_at", "source"} {
			body := strings.Replace(consentBody("newsletter"), "{", `{"`+field+`":"x",`, 1)
			status, answer := s.send("1", http.MethodPost, "/me/consent", body)
			if status != http.StatusUnprocessableEntity || !strings.Contains(answer, field) {
				t.Errorf("%s: %d %s", field, status, answer)
			}
		}
		if rows := s.rows(); rows > 0 {
			t.Errorf("%d rows", rows)
		}
	})
}

func TestAPurposeMayHave255CharactersOfAnyKind(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newHost(t, db, 1)
		for _, purpose := range []string{
			strings.Repeat("𝔸", 255), "a/b c", "50%+?#", ".", "..", "'; DROP TABLE customers; --",
		} {
			if status, body := s.send("1", http.MethodPost, "/me/consent", consentBody(purpose)); status != http.StatusOK {
				t.Fatalf("%d %s", status, body)
			}
			var status domain.ConsentStatus
			s.get("1", "/me/consent/"+percentEncode(purpose), &status)
			if !status.Granted || status.Purpose != purpose {
				t.Errorf("%q: %+v", purpose, status)
			}
		}
		var status domain.ConsentStatus
		s.get("1", "/me/consent/a%2Fb%20c", &status)
		if status.Purpose != "a/b c" || !status.Granted {
			t.Errorf("%+v", status)
		}
	})
}

// percentEncode escapes every byte of the text, so that no library normalizes the path.
func percentEncode(text string) string {
	var b strings.Builder
	for i := range len(text) {
		const digits = "0123456789ABCDEF"
		b.WriteString("%" + string(digits[text[i]>>4]) + string(digits[text[i]&15]))
	}
	return b.String()
}

func TestAnErasureThroughTheRouterLeavesOthersAlone(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newHost(t, db, 2)
		var before, after domain.ExportBundle
		s.get("2", "/me/export", &before)
		status, body := s.send("1", http.MethodDelete, "/me", "")
		var result domain.ErasureResult
		must(t, json.Unmarshal([]byte(body), &result))
		if status != http.StatusOK || result.Deleted["parcels"] != 3 || result.Anonymized["customers"] != 1 {
			t.Fatalf("%d %s", status, body)
		}
		s.get("2", "/me/export", &after)
		if len(before.Records) != 4 || len(after.Records) != 4 || after.Records[0].Value != "c2@example.org" {
			t.Errorf("before %v, after %v", before.Records, after.Records)
		}
	})
}

func TestAnUnreachableDatabaseIs503WithoutDetails(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newHost(t, db, 1)
		restore := s.gdpr.Sessions().Override(unreachable{})
		status, body := s.send("1", http.MethodGet, "/me/export", "")
		if status != http.StatusServiceUnavailable || strings.Contains(body, "secret") {
			t.Errorf("%d %s", status, body)
		}
		restore()
		if status, body := s.send("1", http.MethodGet, "/me/export", ""); status != http.StatusOK {
			t.Errorf("restored: %d %s", status, body)
		}
	})
}

// unreachable is a session factory whose database cannot be reached.
type unreachable struct{ ports.SessionFactory }

func (unreachable) Do(context.Context, func(context.Context, ports.Session) error) error {
	return &domain.Error{Code: domain.ErrUnavailable, Err: errors.New("dial tcp 10.0.0.1: secret")}
}
