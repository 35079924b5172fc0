package app_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

// served returns a function that sends a request of Anna to an integration with the purposes, and returns the body of
// the response.
func served(t *testing.T, db *bun.DB, names ...string) func(method, path, body string, status int) string {
	t.Helper()
	var purposes []domain.Purpose
	for _, name := range names {
		purposes = append(purposes, domain.Purpose{Name: name})
	}
	gdpr, err := app.New(app.Config{DB: db, Models: models, Purposes: purposes})
	must(t, err)
	server := fiber.New()
	server.Route("/me", gdpr.Router(anna, app.WithRestriction()))
	return func(method, path, body string, status int) string {
		t.Helper()
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		response, err := server.Test(request, -1)
		must(t, err)
		defer response.Body.Close()
		received, err := io.ReadAll(response.Body)
		must(t, err)
		if response.StatusCode != status {
			t.Errorf("%s %s %s: %d %s, want %d", method, path, body, response.StatusCode, received, status)
		}
		return string(received)
	}
}

func TestARemovedPurposeCanStillBeEnded(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		shop.Open(t, db, models)
		before, now := served(t, db, "news", "ads"), served(t, db, "news")
		const (
			grant    = `{"granted":true,"policy_version":"v1","purpose":"ads"}`
			withdraw = `{"granted":false,"policy_version":"v1","purpose":"ads"}`
			place    = `{"restricted":true,"purpose":"ads"}`
			lift     = `{"restricted":false,"purpose":"ads"}`
		)
		rows := func() (n int) {
			for _, table := range []string{"habeas_consent_records", "habeas_restriction_records", "habeas_audit_events"} {
				var count int
				must(t, db.NewSelect().Table(table).ColumnExpr("count(*)").Scan(t.Context(), &count))
				n += count
			}
			return n
		}
		refused := func() {
			t.Helper()
			recorded := rows()
			for _, body := range []string{grant, withdraw} {
				now("POST", "/me/consent", body, 422)
			}
			for _, body := range []string{place, lift} {
				now("POST", "/me/restriction", body, 422)
			}
			now("GET", "/me/consent/ads", "", 422)
			now("GET", "/me/restriction?purpose=ads", "", 422)
			if n := rows() - recorded; n != 0 {
				t.Errorf("refused requests added %d rows", n)
			}
		}
		refused()

		before("POST", "/me/consent", grant, 200)
		before("POST", "/me/restriction", place, 200)
		now("POST", "/me/consent", grant, 422)
		now("POST", "/me/restriction", place, 422)
		if all := now("GET", "/me/consent", "", 200); !strings.Contains(all, `"purpose":"ads","granted":true`) {
			t.Errorf("before the withdrawal: %s", all)
		}
		now("GET", "/me/consent/ads", "", 200)
		now("GET", "/me/restriction?purpose=ads", "", 200)
		now("POST", "/me/consent", withdraw, 200)
		now("POST", "/me/restriction", lift, 200)
		if all := now("GET", "/me/consent", "", 200); strings.Contains(all, "ads") {
			t.Errorf("after the withdrawal: %s", all)
		}
		if status := before("GET", "/me/consent/ads", "", 200); !strings.Contains(status, `"granted":false`) {
			t.Errorf("withdrawn: %s", status)
		}
		if status := before("GET", "/me/restriction?purpose=ads", "", 200); !strings.Contains(status, `"restricted":false`) {
			t.Errorf("lifted: %s", status)
		}
		refused()
	})
}
