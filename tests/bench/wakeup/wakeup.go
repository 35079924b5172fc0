// Package wakeup measures the time from the commit of an erasure to the call of the external system by the worker.
package wakeup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/bench/habeas"
	"github.com/habeas-data/habeas/tests/bench/results"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// waitTimeout is the time limit for the start of a listener, and for the worker to call the external system. After this
// time, the measurement fails.
const waitTimeout = 30 * time.Second

// Config describes the measurement.
type Config struct {
	ServerURL string // PostgreSQL server
	Driver    string // driver of habeas
	Pool      int    // database connections of each application
	Erasures  int    // erasures for each other way that wakes the worker
	Polled    int    // erasures that the worker finds by polling
	Poll      time.Duration
	// Progress is called before each step.
	Progress func(text string)
}

// Name is the name of the results.
const Name = "WakeUp"

// rounds is the number of results for each way to notify the worker. Each result has the median and the maximum of
// several erasures.
const rounds = 5

// Measure returns results for each of Ways.
func Measure(ctx context.Context, config Config) (all results.Set, err error) {
	users := 0
	for _, way := range Ways {
		users += 1 + config.erasures(way)
	}
	database, err := shop.CreateAs(ctx, config.ServerURL, "wakeup", users)
	if err != nil {
		return nil, err
	}
	watch, err := pgx.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	defer func() { _ = watch.Close(context.WithoutCancel(ctx)) }()
	user := int64(0)
	for _, way := range Ways {
		m := &measurement{Config: config, way: way, watch: watch, user: user}
		latencies, err := m.measure(ctx, database)
		if err != nil {
			return nil, fmt.Errorf("wake-up, %s: %w", way.Title, err)
		}
		for round := range slices.Chunk(latencies, max(len(latencies)/rounds, 1)) {
			all.Add(Name, len(round), []benchfmt.Value{
				results.Seconds(results.Median(round), "p50-sec"), results.Seconds(slices.Max(round), "max-sec"),
			}, "by", way.Title)
		}
		user = m.user
	}
	return all, verify(ctx, watch, user)
}

// erasures returns the number of measured erasures for one way to notify the worker. One further erasure is a warm-up.
func (c Config) erasures(way Way) int {
	if way.polls {
		return c.Polled
	}
	return c.Erasures
}

// measurement is the measurement of one way to notify the worker.
type measurement struct {
	Config
	way    Way
	watch  *pgx.Conn // a connection that reads what the worker has written
	stack  app.Stack // of the application that erases
	user   int64     // the last erased user
	called chan time.Time
}

func (m *measurement) measure(ctx context.Context, database string) (latencies []time.Duration, err error) {
	m.called = make(chan time.Time, 1)
	stop, err := m.open(ctx, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if _, err := m.erase(ctx); err != nil { // a new worker polls immediately
		return nil, err
	}
	n := m.erasures(m.way)
	m.Progress(fmt.Sprintf("wake-up %s, %d erasures", m.way.Title, n))
	for i := range n {
		if m.way.polls {
			// The commits of the erasures are spread evenly over the interval between two polls of the worker.
			pause(ctx, m.Poll*time.Duration(2*i+1)/time.Duration(2*n))
		}
		latency, err := m.erase(ctx)
		if err != nil {
			return nil, err
		}
		latencies = append(latencies, latency)
	}
	return latencies, nil
}

// erase erases the next user. It returns the time from the commit to the call of the external system. The worker is
// idle before the erasure and when erase returns.
func (m *measurement) erase(ctx context.Context) (time.Duration, error) {
	m.user++
	subject, err := habeas.Subject(m.user)
	if err != nil {
		return 0, err
	}
	if err := m.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := m.stack.Eraser.Erase(ctx, s, subject)
		return err
	}); err != nil {
		return 0, err
	}
	committed := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, waitTimeout, errors.New("the external system was not called"))
	defer cancel()
	select {
	case called := <-m.called:
		return called.Sub(committed), m.settled(ctx)
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// settled waits until the worker has stored the outcome of the outbox entry, and has found no further entry.
func (m *measurement) settled(ctx context.Context) error {
	for {
		var open int
		err := m.watch.QueryRow(ctx, "SELECT count(*) FROM habeas_outbox WHERE status <> 'succeeded'").Scan(&open)
		if err != nil {
			return err
		}
		pause(ctx, 5*time.Millisecond) // much longer than a claim
		if open == 0 {
			return ctx.Err()
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// verify returns an error if one of the users was not erased completely. The users have the numbers from 1 to users.
func verify(ctx context.Context, connection *pgx.Conn, users int64) error {
	var completed, subjects int64
	err := connection.QueryRow(ctx, "SELECT count(*), count(DISTINCT subject_ref) FROM habeas_audit_events"+
		" WHERE event_type = 'erasure_completed'").Scan(&completed, &subjects)
	if err == nil && (completed != users || subjects != users) {
		err = fmt.Errorf("%d erasures of %d users were completed, want one of each of %d", completed, subjects, users)
	}
	return err
}
