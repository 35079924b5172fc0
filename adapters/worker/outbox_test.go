package worker_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"go.uber.org/goleak"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
)

var errHost = errors.New("the host's part failed")

func TestACommittedErasureIsCompletedWithoutWaitingForThePoll(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		prepare(t, db)
		p := newProcess(t, db)
		p.start(t)
		must(t, p.erase(t.Context(), 1, nil))
		p.wantCompleted(t, 1)
		must(t, p.erase(t.Context(), 2, nil))
		p.wantCompleted(t, 2)
	})
}

func TestAnErasureThatWasRolledBackWakesNoWorker(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		prepare(t, db)
		p := newProcess(t, db)
		p.start(t)
		must(t, p.erase(t.Context(), 1, errHost))
		if wakes := p.wakes.Load(); wakes != 0 {
			t.Errorf("the worker was woken %d times", wakes)
		}
		must(t, p.erase(t.Context(), 2, nil))
		p.wantCompleted(t, 2) // the desk got no call for customer 1
		want := []domain.EventType{domain.EventErasureRequested, domain.EventErasureStepFailed}
		if trail := p.trail(t, 1); !slices.Equal(trail, want) {
			t.Errorf("the trail is %v", trail)
		}
	})
}

func TestAnErasureBeforeTheStartIsCompletedAtTheStart(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		prepare(t, db)
		p := newProcess(t, db)
		must(t, p.erase(t.Context(), 1, nil))
		p.worker.Start()
		p.wantCompleted(t, 1)
		must(t, p.worker.Stop(maxWait))
	})
}

func TestAnErasureInAnotherProcessWakesTheWorkerThroughTheListener(t *testing.T) {
	url := postgres.NewDatabase(t)
	here, there := connect(t, url), connect(t, url)
	prepare(t, here)
	web, background := newProcess(t, here), newProcess(t, there) // the worker of web is never started

	config, err := pgx.ParseConfig(url)
	must(t, err)
	woken := make(chan struct{}, 100)
	listener, err := pgxlisten.New(config, func() {
		background.worker.Wake()
		woken <- struct{}{}
	}, pgxlisten.Options{})
	must(t, err)
	background.start(t)
	ctx, cancel := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() { listener.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		listening.Wait()
	})
	next(t, woken) // the listener wakes once when it has connected

	must(t, web.erase(t.Context(), 1, errHost))
	must(t, web.erase(t.Context(), 2, nil))
	background.wantCompleted(t, 2)
	if wakes := background.wakes.Load(); wakes != 0 {
		t.Errorf("the store of this process woke the worker %d times", wakes)
	}
	if calls := len(web.desk.erased); calls != 0 {
		t.Errorf("the web process made %d calls", calls)
	}
}

func TestTwoWorkersCompleteEachErasureOnce(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		prepare(t, db)
		one, other := newProcess(t, db), newProcess(t, db)
		one.start(t)
		other.start(t)
		for _, customer := range []int64{1, 2} {
			must(t, one.erase(t.Context(), customer, nil))
			other.worker.Wake() // both workers compete for the entry
			select {
			case <-one.desk.erased:
			case <-other.desk.erased:
			case <-time.After(maxWait):
				t.Fatal("no worker called the desk in time")
			}
		}
		must(t, one.worker.Stop(maxWait))
		must(t, other.worker.Stop(maxWait))
		for _, customer := range []int64{1, 2} {
			completed := 0
			for _, event := range one.trail(t, customer) {
				if event == domain.EventErasureCompleted {
					completed++
				}
			}
			if completed != 1 || len(one.desk.erased)+len(other.desk.erased) > 0 {
				t.Errorf("customer %d was completed %d times", customer, completed)
			}
		}
	})
}

func TestStopLeavesNoGoroutineBehind(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		prepare(t, db)
		before := goleak.IgnoreCurrent()
		p := newProcess(t, db)
		p.worker.Start()
		must(t, p.erase(t.Context(), 1, nil))
		p.wantCompleted(t, 1)
		must(t, p.worker.Stop(maxWait))
		// The driver closes the connection of a canceled query on its own, and waits for the server.
		closes := goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgconn.(*PgConn).asyncClose.func1")
		goleak.VerifyNone(t, before, closes)
	})
}

// connect opens a separate connection pool, like the pool of another process.
func connect(t *testing.T, url string) *bun.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return bun.NewDB(db, pgdialect.New())
}
