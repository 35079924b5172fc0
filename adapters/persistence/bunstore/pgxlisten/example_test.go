package pgxlisten_test

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/adapters/worker"
)

// While the application runs, its listener wakes the worker after commits of any process.
func ExampleNew() {
	listen := func(ctx context.Context, databaseURL string, background *worker.SagaWorker) error {
		config, err := pgx.ParseConfig(databaseURL) // or pool.Config().ConnConfig if the application has a pool
		if err != nil {
			return err
		}
		listener, err := pgxlisten.New(config, background.Wake, pgxlisten.Options{})
		if err != nil {
			return err
		}
		var running sync.WaitGroup
		running.Go(func() { listener.Run(ctx) }) // returns after ctx has ended and the connection is closed
		defer running.Wait()

		background.Start()
		<-ctx.Done() // the application serves its requests
		return background.Stop(0)
	}
	_ = listen // needs a PostgreSQL server
}
