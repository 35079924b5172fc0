package app

import (
	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/worker"
)

// Worker returns the worker that carries erasures to external systems. An application with a life cycle of its own
// starts and stops it; others leave that to Lifespan.
func (i *Integration) Worker() *worker.SagaWorker { return i.worker }

// Lifespan starts the worker when the server listens, and stops it when the server shuts down; calls in flight are then
// waited for, for worker.DefaultStopTimeout. What is not finished by then is taken up again by the next worker. With
// Fiber's Prefork the worker runs in the parent process, which the commits of its children do not wake.
func (i *Integration) Lifespan(server *fiber.App) {
	server.Hooks().OnListen(func(fiber.ListenData) error {
		i.worker.Start()
		return nil
	})
	server.Hooks().OnShutdown(func() error { return i.worker.Stop(0) })
}
