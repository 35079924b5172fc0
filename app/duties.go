package app

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/duties"
)

// workerInterval is the interval at which the worker shows other processes that it is alive.
const workerInterval = 30 * time.Second

// alive returns the task that shows other processes that the worker is alive. It fails while no batch succeeds.
func (i *Integration) alive(pollInterval time.Duration) worker.Task {
	const missedPolls = 3
	if pollInterval == 0 {
		pollInterval = worker.DefaultPollInterval
	}
	longest := max(missedPolls*pollInterval, workerInterval)
	return worker.Task{Name: string(domain.DutyWorker), Every: workerInterval, Run: func(context.Context) (bool, error) {
		if last, _ := i.worker.Heartbeat(); i.clock.Now().Sub(last) > longest {
			return false, &domain.Error{Code: domain.ErrUnavailable, Op: "worker", Message: "no batch has succeeded recently"}
		}
		return false, nil
	}}
}

// dutiesOf returns the book of the duties that the tasks fulfill.
func (i *Integration) dutiesOf(tasks []worker.Task) (*duties.Book, error) {
	pauses := map[domain.DutyName]time.Duration{}
	for _, task := range tasks {
		pauses[domain.DutyName(task.Name)] = task.Every
	}
	return duties.New(duties.Config{
		Sessions: i.stack.Sessions, Clock: i.clock, Observer: i.stack.Observer, Duties: pauses,
	})
}

// taskEnded records the run of a duty.
func (i *Integration) taskEnded(ctx context.Context, task string, outcome domain.Outcome) error {
	return i.duties.Ended(ctx, domain.DutyName(task), outcome)
}
