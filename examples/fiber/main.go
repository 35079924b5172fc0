// Command fiber is a shop with two tables, bun models and Fiber.
package main

import (
	"context"
	"database/sql"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

type User struct {
	bun.BaseModel `bun:"table:users"`

	ID    int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email string `bun:"email,unique" pii:"contact,surrogate:'{}@erased.invalid'"`
	Theme string `bun:"theme"`
}

type Order struct {
	bun.BaseModel `bun:"table:orders" subject:"owned"`

	ID     int64  `bun:"id,pk,autoincrement"`
	UserID int64  `bun:"user_id"`
	User   *User  `bun:"rel:belongs-to,join:user_id=id"`
	Item   string `bun:"item" pii:"behavioral"`
}

// signedIn returns the user of a request. This example trusts a header. Use your authentication instead.
func signedIn(c *fiber.Ctx) (domain.Subject, error) {
	id := c.Get("X-User")
	if id == "" {
		return domain.Subject{}, fiber.ErrUnauthorized
	}
	return domain.NewSubject(id)
}

func newServer(ctx context.Context, db *bun.DB) (*fiber.App, error) {
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*User)(nil), (*Order)(nil)}})
	if err != nil {
		return nil, err // the mistakes in the models or in the configuration
	}
	if err := gdpr.Migrate(ctx); err != nil {
		return nil, err
	}
	server := fiber.New()
	server.Route("/me", gdpr.Router(signedIn))
	gdpr.Lifespan(server) // starts and stops the worker with the server
	return server, nil
}

func open(ctx context.Context, file string) (*bun.DB, error) {
	connections, err := sql.Open("sqlite", "file:"+file+"?_pragma=foreign_keys(1)&_pragma=journal_mode(wal)")
	if err != nil {
		return nil, err
	}
	db := bun.NewDB(connections, sqlitedialect.New())
	for _, model := range []any{(*User)(nil), (*Order)(nil)} {
		if _, err := db.NewCreateTable().Model(model).IfNotExists().Exec(ctx); err != nil {
			return nil, err
		}
	}
	if users, err := db.NewSelect().Model((*User)(nil)).Count(ctx); err != nil || users > 0 {
		return db, err
	}
	if _, err := db.NewInsert().Model(&User{Email: "zoe@example.org", Theme: "dark"}).Exec(ctx); err != nil {
		return nil, err
	}
	_, err = db.NewInsert().Model(&Order{UserID: 1, Item: "tea"}).Exec(ctx)
	return db, err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	db, err := open(ctx, "shop.db")
	if err != nil {
		log.Fatal(err)
	}
	server, err := newServer(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	stopped := make(chan error)
	go func() {
		<-ctx.Done()
		stopped <- server.Shutdown() // also stops the worker
	}()
	if err := server.Listen("localhost:3000"); err != nil {
		log.Fatal(err)
	}
	if err := <-stopped; err != nil {
		log.Fatal(err)
	}
}
