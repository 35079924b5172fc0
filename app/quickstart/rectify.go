package main

import (
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// rectify returns the handler of PATCH /me/profile, a route of the application. Habeas corrects data (Art. 16 GDPR) but
// provides no route for corrections, because each application decides which data a person may correct without a review.
// This shop allows corrections of the name. A correction of the address on an invoice, for example, would need a
// review.
func rectify(stack app.Stack) fiber.Handler {
	type profile struct {
		Name string `json:"name"`
	}
	return func(c *fiber.Ctx) error {
		subject, err := currentSubject(c)
		if err != nil {
			return err
		}
		var body profile
		if err := c.BodyParser(&body); err != nil || body.Name == "" {
			return fiber.NewError(fiber.StatusUnprocessableEntity, "a profile needs a name")
		}
		corrections := domain.Corrections{domain.CategoryIdentity: body.Name}
		var result domain.RectificationResult
		err = stack.Sessions.Do(c.UserContext(), func(ctx context.Context, s ports.Session) (err error) {
			result, err = stack.Rectifier.RectifySubject(ctx, s, subject.Clone(), corrections)
			return err
		})
		if errors.Is(err, domain.ErrInvalid) {
			return fiber.NewError(fiber.StatusUnprocessableEntity, "the name is not valid")
		}
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.JSON(result)
	}
}
