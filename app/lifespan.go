package app

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/worker"
)

// Worker returns the worker that carries erasures to external systems. Lifespan and Run start and stop it; an
// application may do so itself instead.
func (i *Integration) Worker() *worker.SagaWorker { return i.worker }

// Lifespan starts the worker when the server listens, and stops it when the server shuts down; calls in flight are then
// waited for, for 10 s. What is not finished by then is taken up again by the next worker. With
// Fiber's Prefork the worker runs in the parent process, which the commits of its children do not wake.
func (i *Integration) Lifespan(server *fiber.App) {
	server.Hooks().OnListen(func(fiber.ListenData) error {
		i.worker.Start()
		return nil
	})
	server.Hooks().OnShutdown(func() error { return i.worker.Stop(0) })
}

// Run runs the worker until ctx ends, for applications that do not use Fiber. It then waits for the calls in flight,
// for 10 s at most. What is not finished by then is taken up again by the next worker, and Run returns the error of
// SagaWorker.Stop. Otherwise it returns nil.
//
// An application calls it once, in a goroutine of its own or as the last thing in main, and waits for it to return
// before it closes the database.
func (i *Integration) Run(ctx context.Context) error {
	i.worker.Start() //nolint:contextcheck // calls in flight go on after ctx has ended, until Stop
	<-ctx.Done()
	return i.worker.Stop(0)
}
