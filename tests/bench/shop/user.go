package shop

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// User returns the user of a request. The bearer token is the number of the user. It replaces the authentication of an
// application, so that both sides have the same cost.
func User(c *fiber.Ctx) (int64, error) {
	token, ok := strings.CutPrefix(c.Get(fiber.HeaderAuthorization), "Bearer ")
	user, err := strconv.ParseInt(token, 10, 64)
	if !ok || err != nil || user < 1 {
		return 0, fiber.ErrUnauthorized
	}
	return user, nil
}
