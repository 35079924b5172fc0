package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

var unpaid = &domain.RefusalError{
	Type: "https://shop.example/problems/unpaid", Title: "Not now", Detail: "Invoice 7 is not paid.",
}

// withRefusal returns an application whose hook returns the error, and the log of the application.
func withRefusal(t *testing.T, db *bun.DB, refusal error) (*app.Integration, *bytes.Buffer) {
	t.Helper()
	shop.Open(t, db, models)
	log := &bytes.Buffer{}
	gdpr, err := app.New(app.Config{
		DB: db, Models: models, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Options: stack.Options{Hooks: stack.Hooks{
			BeforeErasure: func(context.Context, ports.Session, domain.Subject) error { return refusal },
		}},
	})
	must(t, err)
	return gdpr, log
}

// erasures asks both routers for an erasure, and returns the status and the body of each response.
func erasures(t *testing.T, gdpr *app.Integration) (answers []string) {
	t.Helper()
	server := fiber.New()
	server.Route("/me", gdpr.Router(anna))
	request := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/me", nil)
	response, err := server.Test(request, -1)
	must(t, err)
	body, err := io.ReadAll(response.Body)
	must(t, err)
	must(t, response.Body.Close())
	recorded := send(t, gdpr.Handler("/me", asOne), http.MethodDelete, "/me")
	for _, header := range []http.Header{response.Header, recorded.Header()} {
		if got := header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("the media type is %q", got)
		}
	}
	return []string{
		fmt.Sprint(response.StatusCode, " ", string(body)), fmt.Sprint(recorded.Code, " ", recorded.Body),
	}
}

func TestAHookRefusesAnErasureInItsOwnWords(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		gdpr, log := withRefusal(t, db, fmt.Errorf("checking: %w", unpaid))
		want := `409 {"type":"https://shop.example/problems/unpaid","title":"Not now","status":409,` +
			`"detail":"Invoice 7 is not paid."}`
		for _, got := range erasures(t, gdpr) {
			if strings.TrimSpace(got) != want {
				t.Errorf("got %s", got)
			}
		}
		if log.Len() > 0 {
			t.Errorf("logged %s", log)
		}
		must(t, gdpr.Sessions().Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			trail, err := s.Audit().Trail(ctx, fixture.MustID(t, "1"))
			last := trail[len(trail)-1]
			if last.EventType != domain.EventErasureStepFailed || last.Payload["target"] != "hook" ||
				last.Payload["error"] != "refused" || len(last.Payload) != 3 { // and operation_id
				t.Errorf("the trail ends with %+v", last)
			}
			return err
		}))
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		joined, err := gdpr.Join(tx)
		must(t, err)
		err = joined.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := gdpr.Stack().Eraser.Erase(ctx, s, domain.Subject{ID: fixture.MustID(t, "1")})
			return err
		})
		if got := (*domain.RefusalError)(nil); !errors.As(err, &got) || got != unpaid {
			t.Errorf("a joined session returns %v", err)
		}
		must(t, tx.Rollback())
	})
}

func TestARefusalIsSentWithDefaultsAndBounds(t *testing.T) {
	long := &domain.RefusalError{Status: 422, Title: strings.Repeat("ä", 300), Detail: "a\nb" + strings.Repeat("ä", 2000)}
	for name, c := range map[string]struct {
		refusal       *domain.RefusalError
		status        int
		title, detail string
		logged        string
	}{
		"no words":         {&domain.RefusalError{}, 409, "Conflict", "The application refused the request.", ""},
		"another status":   {&domain.RefusalError{Status: 423}, 423, "Locked", "The application refused the request.", ""},
		"long texts":       {long, 422, strings.Repeat("ä", 255), "a b" + strings.Repeat("ä", 997), ""},
		"a success":        {&domain.RefusalError{Status: 200, Detail: "no"}, 500, "", "", "from 400 to 499, not 200"},
		"a server's error": {&domain.RefusalError{Status: 500, Detail: "no"}, 500, "", "", "from 400 to 499, not 500"},
		"no URI":           {&domain.RefusalError{Type: "not paid"}, 500, "", "", "must be a URI"},
		"nil":              {nil, 500, "", "", "is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			gdpr, log := withRefusal(t, databases.SQLite(t), c.refusal)
			for _, answer := range erasures(t, gdpr) {
				var problem struct {
					Type, Title, Detail string
					Status              int
				}
				must(t, json.Unmarshal([]byte(answer[4:]), &problem))
				if problem.Status != c.status || problem.Type != "about:blank" ||
					c.title != "" && (problem.Title != c.title || problem.Detail != c.detail) {
					t.Errorf("got %s", answer)
				}
			}
			if got := log.String(); c.logged == "" && got != "" || !strings.Contains(got, c.logged) {
				t.Errorf("logged %s", got)
			}
		})
	}
}
