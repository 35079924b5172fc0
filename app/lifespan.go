package app

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/worker"
)

// Worker returns the worker that calls external systems. Lifespan and Run start and stop it. An application may start
// and stop it itself instead.
func (i *Integration) Worker() *worker.SagaWorker { return i.worker }

// Lifespan starts the worker when the server listens, and stops it when the server shuts down. Shutdown waits up to 10
// s for calls in flight. A worker claims unfinished entries again after their lease. With Fiber's Prefork, the worker
// runs in the parent process, and commits of the child processes do not wake it.
func (i *Integration) Lifespan(server *fiber.App) {
	server.Hooks().OnListen(func(fiber.ListenData) error {
		i.worker.Start()
		return nil
	})
	server.Hooks().OnShutdown(func() error { return i.worker.Stop(0) })
}

// Run runs the worker until ctx ends, for applications that do not use Fiber. It then waits up to 10 s for calls in
// flight. If calls are still in flight after that, Run returns the error of SagaWorker.Stop, and a worker claims their
// entries again after their lease. Otherwise it returns nil.
//
// Call Run once, in a goroutine or as the last statement of main. Wait for Run to return before you close the database.
func (i *Integration) Run(ctx context.Context) error {
	i.worker.Start() //nolint:contextcheck // calls in flight go on after ctx has ended, until Stop
	<-ctx.Done()
	return i.worker.Stop(0)
}
