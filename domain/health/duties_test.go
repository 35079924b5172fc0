package health_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/ports"
)

// board has the duties that are stored, and those that the process knows.
type board struct {
	stored, local []domain.Duty
	failure       error
	reads         int
	release       chan struct{} // if not nil, a read waits for it
}

func (b *board) Read(context.Context, ports.Session) ([]domain.Duty, error) {
	if b.reads++; b.release != nil {
		<-b.release
	}
	return b.stored, b.failure
}

func (b *board) Merge(stored []domain.Duty) []domain.Duty {
	return append(stored[:len(stored):len(stored)], b.local...)
}

func TestDutiesThatAreNotFulfilledDegrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := bubble.Now()
		fine := domain.Duty{Name: domain.DutyJournal, Every: 24 * time.Hour, LastSuccess: &now}
		failing, left, late := fine, fine, fine
		failing.LastSuccess, failing.LastFailure = nil, &now
		left.LeftOver = 1
		late.Name, late.Every = domain.DutyWorker, 30*time.Second
		b := &board{stored: []domain.Duty{fine, late}}
		checker := newChecker(t, health.Config{Sessions: &store{}, Duties: b})
		expect := func(when string, degraded bool, reads int, failed ...health.CheckName) {
			t.Helper()
			state := checker.Check(t.Context())
			if !state.Ready || state.Degraded != degraded || b.reads != reads || len(state.Checks) != 5+len(failed) {
				t.Errorf("%s: %d reads, %+v", when, b.reads, state)
			}
			for _, name := range failed {
				if state.Status(name) != health.CheckFailed {
					t.Errorf("%s: %s is %s", when, name, state.Status(name))
				}
			}
		}
		expect("at first", false, 1)
		b.stored = []domain.Duty{failing}
		expect("before the next read", false, 1)
		b.local = []domain.Duty{left}
		expect("with a finding of this process", true, 1, health.CheckJournal)
		b.local = nil
		time.Sleep(30 * time.Second)
		expect("after the next read", true, 2, health.CheckJournal)
		b.stored = []domain.Duty{fine, late}
		time.Sleep(30 * time.Second)
		expect("after a success", false, 3)
		b.failure = errBoom
		time.Sleep(31 * time.Second)
		expect("after a failed read", true, 4, health.CheckWorkers) // the worker is late since
		expect("before the read after it", true, 4, health.CheckWorkers)
	})
}

func TestASlowReadOfTheDutiesDelaysNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{release: make(chan struct{})}
		checker := newChecker(t, health.Config{Sessions: &store{}, Duties: b})
		began := bubble.Now()
		if state := checker.Check(t.Context()); !state.Ready || since(began) > health.DefaultTimeout/4 {
			t.Errorf("after %v: %+v", since(began), state)
		}
		close(b.release)
		synctest.Wait()
	})
}
