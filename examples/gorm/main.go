// Command gorm is a program with gorm models, a manifest and net/http.
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

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

//go:embed habeas.json
var personalData string // the data map of the application

type Patient struct {
	ID        int64
	CreatedAt time.Time
	DeletedAt gorm.DeletedAt // gorm hides a row with this time; an erasure of habeas finds the row
	Name      string
	Visits    []Visit
}

type Visit struct {
	ID        int64
	PatientID int64 `gorm:"index"`
	At        time.Time
	Finding   string
}

// signedIn returns the user of a request. This example trusts a header. Use your authentication instead.
func signedIn(r *http.Request) (domain.Subject, error) {
	id := r.Header.Get("X-User")
	if id == "" {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(id)
}

func newIntegration(ctx context.Context, orm *gorm.DB) (*app.Integration, error) {
	if err := orm.WithContext(ctx).AutoMigrate(&Patient{}, &Visit{}); err != nil {
		return nil, err
	}
	connections, err := orm.DB()
	if err != nil {
		return nil, err
	}
	dataMap, err := manifest.Read(strings.NewReader(personalData))
	if err != nil {
		return nil, err
	}
	db := bun.NewDB(connections, pgdialect.New()) // shares the connections with gorm
	gdpr, err := app.New(app.Config{DB: db, DataMap: dataMap})
	if err != nil {
		return nil, err
	}
	return gdpr, gdpr.Migrate(ctx) // creates the tables of habeas
}

func run(ctx context.Context, databaseURL, address string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	orm, err := gorm.Open(postgres.Open(databaseURL), &gorm.Config{})
	if err != nil {
		return err
	}
	gdpr, err := newIntegration(ctx, orm)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	gdpr.Mount(mux, "/me", signedIn)
	gdpr.Worker().Start() // calls external systems in the background
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
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
