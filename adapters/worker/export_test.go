package worker

// Engine has the methods of *saga.Runner that a worker calls.
type Engine = engine

// NewOn returns a worker on any engine.
func NewOn(runner Engine, opts Options) (*SagaWorker, error) { return newWorker(runner, opts) }
