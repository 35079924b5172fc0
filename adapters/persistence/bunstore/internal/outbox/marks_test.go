package outbox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
)

var (
	noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	take = domain.Take{Resolver: "crm", Operation: domain.OperationErase, Fresh: 2, Retries: 1}
)

// foundAt returns claimed entries that were enqueued at these instants.
func foundAt(attempts int, instants ...time.Time) (found []domain.OutboxEntry) {
	for _, at := range instants {
		found = append(found, domain.OutboxEntry{
			Resolver: "crm", Operation: domain.OperationErase, Attempts: attempts, EnqueuedAt: at,
		})
	}
	return found
}

// wantMarks claims the found entries and checks the marks of the next claim.
func (m *marks) wantMarks(t *testing.T, found []domain.OutboxEntry, fresh, retries time.Time) {
	t.Helper()
	m.claimed(noon, []domain.Take{take}, found)
	next, fromMarks := m.takes([]domain.Take{take})
	if got := next[0]; !fromMarks || !got.freshFrom.Equal(fresh) || !got.retriesFrom.Equal(retries) {
		t.Errorf("from marks %v: new entries from %v, and retries from %v", fromMarks, got.freshFrom, got.retriesFrom)
	}
}

func TestAMarkIsTheInstantBeforeWhichNoEntryIsLeft(t *testing.T) {
	m := &marks{until: time.Now().Add(time.Hour)}
	early, later := noon.Add(-time.Hour), noon.Add(-time.Minute)
	m.wantMarks(t, foundAt(1, later, early), later.Add(-overlap), noon.Add(-overlap)) // more new entries may be due
	m.wantMarks(t, foundAt(1, early), noon.Add(-overlap), noon.Add(-overlap))
	m.wantMarks(t, nil, noon.Add(-overlap), noon.Add(-overlap))

	m = &marks{until: time.Now().Add(time.Hour)}
	m.wantMarks(t, foundAt(2, early), noon.Add(-overlap), time.Time{}) // more retries may be due
}

func TestClaimsBeginAtTheMarksAfterSlowOnesWithManyDeadRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, counted := &marks{}, 0
		reads := func(took time.Duration, dead int64) {
			t.Helper()
			if err := m.readAll(took, func() (int64, error) { counted++; return dead, nil }); err != nil {
				t.Fatal(err)
			}
		}
		fromMarks := func(want bool) {
			t.Helper()
			if _, got := m.takes(nil); got != want {
				t.Errorf("from the marks: %v", got)
			}
		}
		for range slowScans {
			reads(slowScan, manyDeadRows-1)
		}
		if fromMarks(false); counted != 1 {
			t.Errorf("the dead rows were counted %d times", counted)
		}
		reads(slowScan-1, manyDeadRows)
		for range slowScans - 1 {
			reads(slowScan, manyDeadRows)
		}
		fromMarks(false)
		reads(slowScan, manyDeadRows)
		fromMarks(true)
		time.Sleep(scanPause * slowScan)
		fromMarks(false)
		reads(time.Hour, manyDeadRows) // one slow claim is enough while they stay slow
		fromMarks(true)
		m.forget()
		fromMarks(false)
	})
}
