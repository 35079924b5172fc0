// Package habeas is the shop with habeas, wired as the README says: bun models with tags, app.New, one router.
package habeas

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

// New returns the application. Its worker is not started: what the requests cost is measured here, and what they leave
// in the outbox is not drained on either side.
func New(db *bun.DB) (*fiber.App, error) {
	gdpr, err := app.New(app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{desk{}}})
	if err != nil {
		return nil, err
	}
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Route("/me", gdpr.Router(currentSubject))
	return server, nil
}

func currentSubject(c *fiber.Ctx) (domain.Subject, error) {
	user, err := shop.User(c)
	if err != nil {
		return domain.Subject{}, err
	}
	id := strconv.FormatInt(user, 10)
	return domain.NewSubject(id, domain.SubjectRef{Kind: desk{}.Name(), Value: "contact-" + id})
}

// desk is a support desk that holds nothing and answers at once.
type desk struct{}

func (desk) Name() string { return "desk" }

func (desk) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (desk) EraseSubject(context.Context, domain.SubjectRef, string) (alreadyAbsent bool, err error) {
	return false, nil
}
