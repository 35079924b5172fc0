// Package fleet tests several worker processes that drain one outbox. The test kills the processes one after the other.
package fleet_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

// The names of environment variables with the addresses of the database and of the desk. If they are set, this test
// binary runs as a worker.
const (
	databaseVariable = "HABEAS_TEST_FLEET_DATABASE"
	deskVariable     = "HABEAS_TEST_FLEET_DESK"
)

// The lease is the period in which an outbox entry belongs to one worker. It is short here, so that another worker soon
// claims the entries of a killed worker. The call timeout is only a little longer than the time between two kills.
const (
	lease       = 2500 * time.Millisecond
	callTimeout = 1500 * time.Millisecond
	poll        = 50 * time.Millisecond
)

func TestMain(m *testing.M) {
	if source := os.Getenv(databaseVariable); source != "" {
		if err := work(source, os.Getenv(deskVariable)); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		return
	}
	postgres.Main(m)
}

// work runs a worker until the outbox has no open entry. If work returns an error, the worker process fails, and so
// does the test.
func work(source, desk string) error {
	go func() { // standard input ends when the test process ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(2)
	}()
	db, store, err := open(source)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	runner, err := saga.NewRunner(saga.Config{
		Sessions: store, Clock: system.Clock{}, IDs: &system.IDs{},
		Resolvers: []ports.Resolver{client{url: desk, worker: strconv.Itoa(os.Getpid())}},
		Options: saga.Options{
			CallTimeout: callTimeout, Lease: lease,
			MaxAttempts: 100, FirstBackoff: 100 * time.Millisecond, MaxBackoff: 400 * time.Millisecond,
		},
	})
	if err != nil {
		return err
	}
	ctx, empty := context.Background(), time.NewTicker(poll)
	defer empty.Stop()
	for {
		settled, err := runner.RunOnce(ctx)
		if err != nil {
			return err
		}
		if settled > 0 {
			continue
		}
		if open, err := stillOpen(ctx, store); err != nil || open == 0 {
			return err
		}
		<-empty.C
	}
}

// stillOpen returns the number of open outbox entries.
func stillOpen(ctx context.Context, store ports.SessionFactory) (open int64, err error) {
	err = store.Do(ctx, func(ctx context.Context, session ports.Session) error {
		counts, err := session.OutboxAdmin().Counts(ctx)
		open = counts[domain.OutboxPending] + counts[domain.OutboxInFlight] + counts[domain.OutboxFailed]
		return err
	})
	return open, err
}

func open(source string) (*bun.DB, *bunstore.Store, error) {
	sqldb, err := sql.Open("pgx", source)
	if err != nil {
		return nil, nil, err
	}
	db := bun.NewDB(sqldb, pgdialect.New())
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeText}},
	})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	store, err := bunstore.New(db, dataMap, bunstore.Options{})
	return db, store, err
}

// client is the resolver of the desk (the external system). It sends each erasure to the desk by HTTP, with the name of
// the worker in a header.
type client struct {
	ports.Resolver
	url, worker string
}

func (client) Name() string { return "desk" }

func (c client) EraseSubject(
	ctx context.Context, ref domain.SubjectRef, call domain.ErasureCall,
) (alreadyAbsent bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.url+"/contacts/"+url.PathEscape(ref.Value), nil)
	if err != nil {
		return false, err
	}
	request.Header.Set(entryHeader, call.EntryID)
	request.Header.Set(workerHeader, c.worker)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusNoContent:
		return false, nil
	case http.StatusNotFound:
		return true, nil
	default:
		return false, errors.New("the desk responded " + response.Status)
	}
}
