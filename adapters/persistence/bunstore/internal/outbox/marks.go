package outbox

import (
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

const (
	// slowScan is the duration from which a claim that reads all due instants is slow. After slowScans of them in a row,
	// claims begin at the marks if there are at least manyDeadRows. Otherwise, the server is busy with something else.
	slowScan     = 20 * time.Millisecond
	slowScans    = 3
	manyDeadRows = 5000
	// scanPause is the pause before the next claim that reads all due instants, as a multiple of the duration of the last
	// one. longestPause is its upper limit.
	scanPause    = 100
	longestPause = time.Minute
	// overlap is the time by which a claim begins before its mark, for entries of sessions that commit late or have a
	// slightly slower clock.
	overlap = time.Second
)

// marks keeps claims fast while PostgreSQL cannot remove old versions of settled entries, for example during a backup.
// These versions stand in the index before all due entries. With 300,000 settled entries under an old snapshot, a claim
// from the beginning of the index takes 250 ms, and a claim from a mark 1 ms.
//
// A mark is the due instant before which the last claim has left no entry. After slow claims, the next ones begin at
// the marks. From time to time, a claim reads all due instants again, because an entry with an earlier instant may
// appear: one of a session that committed late, or one that a worker has given back.
//
// marks is safe for concurrent use. The zero value is ready for use.
type marks struct {
	mu    sync.Mutex
	slow  int       // slow claims in a row
	until time.Time // claims begin at the marks until then
	from  map[kind]time.Time
}

// kind identifies the new entries, or the retries, of one operation in one external system.
type kind struct {
	resolver  string
	operation domain.Operation
	retries   bool
}

// markedTake is a take of a claim that reads the due instants from a mark on. A new entry is due at its enqueued_at,
// and a retry at its next_attempt_at. A zero mark is no bound.
type markedTake struct {
	domain.Take
	freshFrom, retriesFrom time.Time
}

// takes returns the takes with their marks. It reports false if these takes read all due instants.
func (m *marks) takes(takes []domain.Take) (marked []markedTake, fromMarks bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fromMarks = time.Now().Before(m.until)
	for _, take := range takes {
		next := markedTake{Take: take}
		if fromMarks {
			next.freshFrom = m.from[kind{take.Resolver, take.Operation, false}]
			next.retriesFrom = m.from[kind{take.Resolver, take.Operation, true}]
		}
		marked = append(marked, next)
	}
	return marked, fromMarks
}

// claimed moves the marks after a claim at the instant now. A claim takes new entries in the order of their intake. If
// it has found as many retries as it asked for, the remaining ones may be as old.
func (m *marks) claimed(now time.Time, takes []domain.Take, found []domain.OutboxEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from == nil {
		m.from = map[kind]time.Time{}
	}
	for _, take := range takes {
		fresh, retries := take.Among(found)
		if fresh < take.Fresh {
			m.from[kind{take.Resolver, take.Operation, false}] = now.Add(-overlap)
		} else if fresh > 0 {
			m.from[kind{take.Resolver, take.Operation, false}] = newestOf(take, found).Add(-overlap)
		}
		if retries < take.Retries {
			m.from[kind{take.Resolver, take.Operation, true}] = now.Add(-overlap)
		}
	}
}

// newestOf returns the instant at which the newest new entry of the take was enqueued. Its turn is not earlier.
func newestOf(take domain.Take, found []domain.OutboxEntry) (newest time.Time) {
	for _, entry := range found {
		if entry.Resolver == take.Resolver && entry.Operation == take.Operation && entry.Attempts <= 1 &&
			entry.EnqueuedAt.After(newest) {
			newest = entry.EnqueuedAt
		}
	}
	return newest
}

// readAll records the duration of a claim that has read all due instants. It calls deadRows, which returns the number
// of dead rows in the outbox, if the last claims were slow.
func (m *marks) readAll(took time.Duration, deadRows func() (int64, error)) error {
	if m.countSlow(took) < slowScans {
		return nil
	}
	dead, err := deadRows()
	if err != nil || dead < manyDeadRows {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.until = time.Now().Add(min(scanPause*took, longestPause))
	return nil
}

func (m *marks) countSlow(took time.Duration) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow++
	if took < slowScan {
		m.slow = 0
	}
	return m.slow
}

// forget lets the next claim read all due instants. The caller calls it after a requeue has committed, because the
// requeued entries have old due instants.
func (m *marks) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.until = time.Time{}
}
