package pgxlisten_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// bubble runs a test with the simulated clock of synctest. The clock advances only while all goroutines wait.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// pass advances the simulated clock by d, and then waits until all goroutines wait again.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// running is a listener that runs until stop is called or the test ends.
type running struct {
	wakes atomic.Int64
	woken chan struct{} // receives one element for each call of wake
	log   records
	stop  func() // stops the listener and waits until Run has returned
}

func run(t *testing.T, config *pgx.ConnConfig, opts pgxlisten.Options) *running {
	t.Helper()
	r := &running{woken: make(chan struct{}, 1000)}
	opts.Logger = slog.New(slog.NewJSONHandler(&r.log, nil))
	listener, err := pgxlisten.New(config, func() {
		r.wakes.Add(1)
		r.woken <- struct{}{}
	}, opts)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		listener.Run(ctx)
	}()
	r.stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(r.stop)
	return r
}

func (r *running) wantWakes(t *testing.T, want int64) {
	t.Helper()
	if got := r.wakes.Load(); got != want {
		t.Errorf("%d wakes, want %d", got, want)
	}
}

// records stores log records.
type records struct{ fixture.Log }

// warnings returns the log records of lost connections and of failed attempts to connect.
func (r *records) warnings(t *testing.T) []map[string]any {
	t.Helper()
	var warnings []map[string]any
	for _, record := range r.Records(t) {
		if record["level"] == "WARN" {
			warnings = append(warnings, record)
		}
	}
	return warnings
}

var must = fixture.Must
