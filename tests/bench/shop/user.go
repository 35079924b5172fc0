package shop

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// User says who is asking: here a bearer token is the number of a user. It stands for the authentication that an
// application has, so that both sides ask for the same.
func User(c *fiber.Ctx) (int64, error) {
	token, ok := strings.CutPrefix(c.Get(fiber.HeaderAuthorization), "Bearer ")
	user, err := strconv.ParseInt(token, 10, 64)
	if !ok || err != nil || user < 1 {
		return 0, fiber.ErrUnauthorized
	}
	return user, nil
}
