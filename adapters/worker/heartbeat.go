package worker

import (
	"sync"
	"time"

	"github.com/habeas-data/habeas/ports"
)

// longestPause is how long a batch may be under way without progress before it counts as stuck, if the runner does not
// say.
const longestPause = 15 * time.Minute

var _ ports.Heartbeat = (*SagaWorker)(nil)

// Heartbeat implements ports.Heartbeat. The last sign of life is the last batch that succeeded, or the start. A batch
// that is under way is a sign of life, too, because its calls may take long. It is none if the last batch failed, or if
// it makes no progress for longer than the runner says that it can; without a word of the runner, for 15 minutes.
func (w *SagaWorker) Heartbeat() (last time.Time, running bool) {
	w.mu.Lock()
	running = w.running()
	w.mu.Unlock()
	return w.pulse.read(w.options.Clock.Now(), w.pause), running
}

// pulse has the signs of life of a worker's loops.
type pulse struct {
	mu      sync.Mutex
	last    time.Time // batch that succeeded, or the start
	moved   time.Time // begin or progress of a batch
	busy    int       // batches under way
	failing bool      // the last batch that ended
}

func (p *pulse) start(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.failing = now, false
}

func (p *pulse) begin(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved = now
	p.busy++
}

func (p *pulse) move(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved = now
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
	if p.busy > 0 && !p.failing && now.Sub(p.moved) <= pause {
		return now
	}
	return p.last
}
