package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// After the commit of an erasure, the store wakes the worker. The worker then immediately calls the newsletter service.
func ExampleNew() {
	var background *worker.SagaWorker // declared before the store, because the store wakes it
	service := newsletter{removed: make(chan string)}
	engines := newStack(memory.Options{Enqueued: func() { background.Wake() }}, service)
	var err error
	background, err = worker.New(engines.Runner, worker.Options{})
	check(err)
	background.Start()

	zoe, err := domain.NewSubject("42", domain.SubjectRef{Kind: "newsletter", Value: "s-7"})
	check(err)
	check(engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		_, err := engines.Eraser.Erase(ctx, s, zoe)
		return err
	}))
	fmt.Println("removed:", <-service.removed)
	fmt.Println("stopped:", background.Stop(0))
	// Output:
	// removed: s-7
	// stopped: <nil>
}

// An application starts the worker when it starts its server. It first stops the server and then the worker, because
// the last requests may still add entries to the outbox.
func ExampleSagaWorker_Stop() {
	background, err := worker.New(newStack(memory.Options{}).Runner, worker.Options{})
	check(err)
	server := &http.Server{Addr: "127.0.0.1:0", ReadHeaderTimeout: 5 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	stop() // as Ctrl-C does

	background.Start()
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err = <-failed: // for example because the port is in use
	case <-ctx.Done():
		err = server.Shutdown(context.Background())
	}
	fmt.Println(errors.Join(err, background.Stop(0))) // calls in flight are finished, within 10 s
	// Output: <nil>
}

// newStack returns the services of an application with a table of users.
func newStack(opts memory.Options, systems ...ports.Resolver) stack.Stack {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, opts)
	check(err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap, Resolvers: systems})
	check(err)
	return engines
}

// newsletter is a service that sends newsletters to subscribers.
type newsletter struct{ removed chan string }

func (newsletter) Name() string { return "newsletter" }

func (newsletter) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (newsletter) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (n newsletter) EraseSubject(_ context.Context, ref domain.SubjectRef, _ domain.ErasureCall) (alreadyAbsent bool,
	err error,
) {
	n.removed <- ref.Value
	return false, nil
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
