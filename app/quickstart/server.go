package main

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// newServer returns the web server of the shop. The routes of habeas are mounted at /me.
func newServer(db *bun.DB, c config, desk ports.Resolver) (*fiber.App, *app.Integration, error) {
	gdpr, err := app.New(app.Config{
		DB: db, Models: models, Resolvers: []ports.Resolver{desk}, PollInterval: c.pollInterval,
	})
	if err != nil {
		return nil, nil, err
	}
	server := fiber.New(fiber.Config{AppName: "habeas quickstart", DisableStartupMessage: true})
	gdpr.Lifespan(server) // starts and stops the worker with the server
	server.Get("/healthz", func(c *fiber.Ctx) error { return c.SendString("ok\n") })
	server.Route("/me", gdpr.Router(currentSubject, app.WithRestriction(), app.WithTags("privacy")))
	server.Patch("/me/profile", rectify(gdpr.Stack()))

	document, err := gdpr.OpenAPI("/me")
	if err != nil {
		return nil, nil, err
	}
	server.Get("/openapi.json", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(document)
	})
	return server, gdpr, nil
}

// currentSubject returns the subject of a request. In this demo, the bearer token is a first name. A real application
// takes the user from its session or from a verified token, and from no other part of the request.
func currentSubject(c *fiber.Ctx) (domain.Subject, error) {
	token, _ := strings.CutPrefix(c.Get(fiber.HeaderAuthorization), "Bearer ")
	for i, name := range people {
		if token == strings.ToLower(name) {
			return domain.NewSubject(strconv.Itoa(i+1), deskRef(name))
		}
	}
	c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	return domain.Subject{}, fiber.ErrUnauthorized
}
