package app

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/worker"
)

// Worker returns the worker that calls external systems. Lifespan and Run call its methods Start and Stop. An
// application needs the worker if it calls these methods itself, or Wake.
func (i *Integration) Worker() *worker.SagaWorker { return i.background.worker }

// Lifespan starts the worker when the server listens, and stops the worker when the server shuts down. The shutdown
// waits up to 10 s for running calls to external systems. If the process ends during a call, a worker repeats the call
// when the lease of its outbox entry has expired. With Fiber's Prefork, the worker runs in the parent process, and
// commits of the child processes do not wake it (see package pgxlisten).
//
// If another application mounts the server after this call, the worker follows that application, because only the
// application that listens calls its hooks. Call Lifespan before the server is mounted, or for the application that
// listens. If no worker has ever run although there are external systems or background duties, Health is degraded.
func (i *Integration) Lifespan(server *fiber.App) {
	hooks := server.Hooks()
	hooks.OnListen(func(fiber.ListenData) error {
		i.background.worker.Start()
		return nil
	})
	hooks.OnShutdown(func() error { return i.background.worker.Stop(0) })
	hooks.OnMount(func(parent *fiber.App) error {
		i.Lifespan(parent)
		return nil
	})
}

// Run runs the worker until ctx ends, for applications that do not use Fiber. Run then waits up to 10 s for running
// calls to external systems and running tasks. If one takes longer, Run returns the error of SagaWorker.Stop. Otherwise
// Run returns nil. If the process ends during a call, a worker repeats the call when the lease of its outbox entry has
// expired.
//
// Call Run once, in a goroutine or as the last statement of main. Wait for Run to return before you close the database.
func (i *Integration) Run(ctx context.Context) error {
	i.background.worker.Start() //nolint:contextcheck // calls in flight go on after ctx has ended, until Stop
	<-ctx.Done()
	return i.background.worker.Stop(0)
}
