package worker

import (
	"sync"
	"time"

	"github.com/habeas-data/habeas/ports"
)

var _ ports.Heartbeat = (*SagaWorker)(nil)

// Heartbeat implements ports.Heartbeat. It returns the time of the last sign of life, and whether the worker is
// running. The last sign of life is the end of the last successful batch, or the start of the worker.
//
// While a batch is running, the last sign of life is the current time, because calls may take long. This does not apply
// in two cases:
//
//   - The most recently ended batch has failed.
//   - No batch has made progress for longer than saga.Runner.LongestPause.
func (w *SagaWorker) Heartbeat() (last time.Time, running bool) {
	w.mu.Lock()
	running = w.running()
	w.mu.Unlock()
	return w.pulse.read(w.options.Clock.Now(), w.runner.LongestPause()), running
}

// pulse records when batches begin, make progress and end, for all loops of a worker.
type pulse struct {
	mu         sync.Mutex
	last       time.Time // end of the last batch that succeeded, or the start of the worker
	progressed time.Time // last begin or progress of a batch
	busy       int       // batches that are running
	failing    bool      // whether the most recently ended batch has failed
}

func (p *pulse) start(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.failing = now, false
}

func (p *pulse) begin(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.progressed = now
	p.busy++
}

func (p *pulse) progress(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.progressed = now
}

func (p *pulse) end(now time.Time, succeeded bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	p.failing = !succeeded
	if succeeded {
		p.last = now
	}
}

func (p *pulse) read(now time.Time, pause time.Duration) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy > 0 && !p.failing && now.Sub(p.progressed) <= pause {
		return now
	}
	return p.last
}
