// Package habeas is the shop of the benchmark with habeas. It uses habeas as in the README: bun models with tags,
// app.New and one router.
package habeas

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// Config returns the default configuration of habeas for the shop. Callers may change it before they call app.New.
func Config(db *bun.DB) app.Config {
	return app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{Desk{}}}
}

// New returns the web server of the shop. No worker runs, because the benchmark measures only requests. The outbox
// entries therefore stay pending, as in the hand-written server.
func New(db *bun.DB) (*fiber.App, error) {
	gdpr, err := app.New(Config(db))
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
	return Subject(user)
}

// Open opens a database. The pool has the given number of connections and keeps them open.
func Open(databaseURL string, pool int) (*bun.DB, error) {
	db, err := shop.Connect(databaseURL)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(pool)
	db.SetMaxIdleConns(pool)
	return db, nil
}

// Subject returns the subject of a user, with the id of the user at the support desk.
func Subject(user int64) (domain.Subject, error) {
	id := strconv.FormatInt(user, 10)
	return domain.NewSubject(id, domain.SubjectRef{Kind: Desk{}.Name(), Value: "contact-" + id})
}

// Desk is a support desk that stores nothing and responds immediately.
type Desk struct{}

var _ ports.Resolver = Desk{}

// Name implements ports.Resolver.
func (Desk) Name() string { return "desk" }

// CoveredSurface implements ports.Resolver.
func (Desk) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

// ExportSubject implements ports.Resolver.
func (Desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

// EraseSubject implements ports.Resolver.
func (Desk) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (alreadyAbsent bool, err error) {
	return false, nil
}
