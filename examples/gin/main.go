// Command gin is a program with gin, a pgx pool and a manifest.
package main

import (
	"context"
	_ "embed"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

//go:embed habeas.json
var personalData string // the data map of the application

// userKey is the key of the user's id in the context of a request.
type userKey struct{}

// authenticate puts the user into the context of the request, because WrapH does not pass the gin.Context.
func authenticate(c *gin.Context) {
	if id := c.GetHeader("X-User"); id != "" { // trusts a header: use your authentication instead
		c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), userKey{}, id))
	}
}

func signedIn(r *http.Request) (domain.Subject, error) {
	id, ok := r.Context().Value(userKey{}).(string)
	if !ok {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(id)
}

func mountOnGin(engine *gin.Engine, gdpr *app.Integration) {
	rights := gin.WrapH(gdpr.Handler("/me/privacy", signedIn))
	me := engine.Group("/me", authenticate)
	me.Any("/privacy", rights) // DELETE /me/privacy is the erasure
	me.Any("/privacy/*path", rights)
}

func newEngine(ctx context.Context, pool *pgxpool.Pool) (*gin.Engine, *app.Integration, error) {
	dataMap, err := manifest.Read(strings.NewReader(personalData))
	if err != nil {
		return nil, nil, err
	}
	db := bun.NewDB(stdlib.OpenDBFromPool(pool), pgdialect.New()) // takes its connections from the pool
	gdpr, err := app.New(app.Config{DB: db, DataMap: dataMap})
	if err != nil {
		return nil, nil, err
	}
	engine := gin.New()
	engine.Use(gin.Recovery())
	mountOnGin(engine, gdpr)
	engine.GET("/me/orders", func(c *gin.Context) { c.JSON(http.StatusOK, []string{}) })
	return engine, gdpr, gdpr.Migrate(ctx) // creates the tables of habeas
}

func run(ctx context.Context, databaseURL, address string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer pool.Close()
	engine, gdpr, err := newEngine(ctx, pool)
	if err != nil {
		return err
	}
	gdpr.Worker().Start() // calls external systems in the background
	server := &http.Server{Addr: address, Handler: engine, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case err = <-served: // for example, the port is in use
	case <-ctx.Done():
		err = server.Shutdown(context.WithoutCancel(ctx)) // waits for the requests
	}
	return errors.Join(err, gdpr.Worker().Stop(0)) // waits up to 10 s for calls to external systems
}

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL"), "localhost:3000"); err != nil {
		log.Fatal(err)
	}
}
