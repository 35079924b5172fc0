package guide

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// The tests of this file are those of docs/testing.md: an application tests its own code, with habeas in it.

// newApplication is the function of the application that the tests call.
func newApplication(gdpr *app.Integration) *fiber.App {
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Route("/me", gdpr.Router(func(c *fiber.Ctx) (domain.Subject, error) {
		if c.Get("X-User") == "" {
			return domain.Subject{}, fiber.ErrUnauthorized
		}
		return domain.NewSubject(c.Get("X-User"))
	}))
	return server
}

func newIntegration(t *testing.T) *app.Integration {
	t.Helper()
	gdpr, err := app.New(app.Config{
		DB: databases.SQLite(t), Models: shop.Models, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return gdpr
}

func TestTheRoutesErasePeople(t *testing.T) {
	gdpr := newIntegration(t)
	store, err := memory.New(gdpr.Stack().DataMap, memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer gdpr.Sessions().Override(store)()
	if err := store.Insert("customers", memory.Row{"id": 7, "email": "zoe@example.org", "plan": "basic"}); err != nil {
		t.Fatal(err)
	}

	request := httptest.NewRequest("DELETE", "/me", nil)
	request.Header.Set("X-User", "7")
	response, err := newApplication(gdpr).Test(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	defer response.Body.Close()
	rows, err := store.Rows("customers")
	if err != nil || len(rows) != 1 || rows[0]["email"] == "zoe@example.org" || rows[0]["plan"] != "basic" {
		t.Errorf("the customers are %v, %v", rows, err)
	}
}

func TestAGuestHasNoRights(t *testing.T) {
	response, err := newApplication(newIntegration(t)).Test(httptest.NewRequest("GET", "/me/export", nil))
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		t.Fatal(response, err)
	}
	defer response.Body.Close()
}

func TestThePlanCoversEveryTable(t *testing.T) {
	var steps []string
	for _, step := range newIntegration(t).Plan().Steps {
		steps = append(steps, string(step.Strategy)+" "+step.Target)
	}
	if got := strings.Join(steps, ", "); got != "delete parcels, anonymize customers" {
		t.Errorf("the plan is %s", got)
	}
}

// sendNewsletter is a function of the application. It must send nothing without a consent.
func sendNewsletter(ctx context.Context, gdpr *app.Integration, id domain.SubjectID, send func()) error {
	return gdpr.Sessions().Do(ctx, func(ctx context.Context, s ports.Session) error {
		status, err := gdpr.Stack().Consent.Status(ctx, s, id, "newsletter")
		if err == nil && status.Granted {
			send()
		}
		return err
	})
}

var errDown = errors.New("the database is down")

func TestNoNewsletterIsSentIfTheDatabaseIsDown(t *testing.T) {
	gdpr := newIntegration(t)
	sessions := mocks.NewMockSessionFactory(gomock.NewController(t))
	sessions.EXPECT().Do(gomock.Any(), gomock.Any()).Return(errDown)
	defer gdpr.Sessions().Override(sessions)()

	id, err := domain.NewSubjectID("7")
	if err != nil {
		t.Fatal(err)
	}
	err = sendNewsletter(t.Context(), gdpr, id, func() { t.Error("the newsletter was sent") })
	if !errors.Is(err, errDown) {
		t.Errorf("the error is %v", err)
	}
}
