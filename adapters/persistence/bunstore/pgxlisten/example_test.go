package pgxlisten_test

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/adapters/worker"
)

// The worker of this process is woken by the commits of all processes, for as long as the application runs.
func ExampleNew() {
	listen := func(ctx context.Context, databaseURL string, background *worker.SagaWorker) error {
		config, err := pgx.ParseConfig(databaseURL) // pool.Config().ConnConfig, where there is a pool
		if err != nil {
			return err
		}
		listener, err := pgxlisten.New(config, background.Wake, pgxlisten.Options{})
		if err != nil {
			return err
		}
		var running sync.WaitGroup
		running.Go(func() { listener.Run(ctx) }) // returns once ctx has ended, and its connection is closed
		defer running.Wait()

		background.Start()
		<-ctx.Done() // the application serves its requests
		return background.Stop(0)
	}
	_ = listen // needs a PostgreSQL server
}
