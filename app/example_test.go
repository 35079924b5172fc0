package app_test

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type User struct {
	bun.BaseModel `bun:"table:users"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Theme string `bun:"theme"`
}

type Invoice struct {
	bun.BaseModel `bun:"table:invoices"`

	ID       int64     `bun:"id,pk,autoincrement"`
	UserID   int64     `bun:"user_id"`
	User     *User     `bun:"rel:belongs-to,join:user_id=id"`
	Address  string    `bun:"address" pii:"financial,erasure:retain,reason:'§ 147 AO',retain:10y,since:issued_at"`
	IssuedAt time.Time `bun:"issued_at"`
}

func currentSubject(c *fiber.Ctx) (domain.Subject, error) {
	user, ok := c.Locals("user").(*User) // put there by the authentication that you have
	if !ok {
		return domain.Subject{}, fiber.ErrUnauthorized
	}
	return domain.NewSubject(strconv.FormatInt(user.ID, 10))
}

func Example() {
	sqldb, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		panic(err)
	}
	if err := integrate(bun.NewDB(sqldb, sqlitedialect.New())); err != nil {
		panic(err)
	}
	// Output:
	// retain invoices [address]
	// anonymize users [email]
}

func integrate(db *bun.DB) error {
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*User)(nil), (*Invoice)(nil)}})
	if err != nil {
		return err // a mistake in the models, with the table and the column named
	}
	server := fiber.New()
	server.Route("/me", gdpr.Router(currentSubject))

	for _, step := range gdpr.Stack().Eraser.Plan().Steps {
		fmt.Println(step.Strategy, step.Target, step.Columns)
	}
	return nil
}

func ExampleIntegration_Lifespan() {
	models := []any{(*User)(nil), (*Invoice)(nil)}
	integrate := func(db *bun.DB, server *fiber.App, token string) error {
		desk, err := supportdesk.New(token, supportdesk.Options{})
		if err != nil {
			return err
		}
		gdpr, err := app.New(app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{desk}})
		if err != nil {
			return err
		}
		gdpr.Lifespan(server) // starts and stops the worker with the application
		return nil
	}
	_ = integrate
}

func ExampleStack_rectification() {
	rename := func(ctx context.Context, gdpr *app.Integration, session ports.Session, subject domain.Subject, name string) error {
		corrections := domain.Corrections{domain.CategoryIdentity: name}
		result, err := gdpr.Stack().Rectifier.RectifySubject(ctx, session, subject, corrections)
		fmt.Println(result.Rectified)
		return err
	}
	_ = rename
}

func ExampleIntegration_Stack() {
	mayWrite := func(ctx context.Context, gdpr *app.Integration, id domain.SubjectID) (bool, error) {
		stack := gdpr.Stack()
		var status domain.ConsentStatus
		err := stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			status, err = stack.Consent.Status(ctx, s, id, "newsletter")
			return err
		})
		return status.Granted, err
	}
	_ = mayWrite
}
