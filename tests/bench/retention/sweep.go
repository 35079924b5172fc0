package retention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/domain/sweep"
	"github.com/habeas-data/habeas/internal/system"
)

// Latencies has the durations of the erasures that ran during another activity, such as a sweep.
type Latencies struct {
	What           string
	P50, P99, Most time.Duration
	Erasures       int
	Took           time.Duration
	Swept          int64 // subjects whose expired values were overwritten
}

// MeasureSweep measures the durations of erasures at a constant rate in three situations:
//
//   - without any other activity
//   - during a sweep (it overwrites values whose retention period has ended) that finds no such value
//   - during a sweep that overwrites values of one subject in ten
func MeasureSweep(ctx context.Context, c Config, perSecond int, alone time.Duration) (all []Latencies, err error) {
	const others = 50_000 // number of customers that the measured erasures may erase
	old := time.Now().AddDate(-11, 0, 0)
	w, err := c.open(ctx, "sweep", c.Subjects+others, old)
	if err != nil {
		return nil, err
	}
	defer w.close()
	c.Progress("erasing")
	for _, statement := range []string{
		"INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures) SELECT n, now() - INTERVAL '9 years', 1" +
			" FROM generate_series(1, ?) AS n",
		"UPDATE customers SET email = 'anon-' || md5(id::text), name = 'anon-' || md5(id::text) WHERE id <= ?",
		"UPDATE invoices SET issued_at = now() WHERE customer_id <= ?",
	} {
		if _, err := w.db.NewRaw(statement, c.Subjects).Exec(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := w.db.ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
		return nil, err
	}
	load := &load{world: w, next: c.Subjects, perSecond: perSecond}
	first, err := load.during(ctx, "alone", func(ctx context.Context) (int64, error) {
		select {
		case <-time.After(alone):
		case <-ctx.Done():
		}
		return 0, ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	idle, err := load.during(ctx, "a pass with nothing to do", w.pass)
	if err != nil {
		return nil, err
	}
	due := "UPDATE invoices SET issued_at = ? WHERE customer_id <= ? AND customer_id % 10 = 0"
	if _, err := w.db.NewRaw(due, old, c.Subjects).Exec(ctx); err != nil {
		return nil, err
	}
	busy, err := load.during(ctx, "a pass that sweeps one in ten", w.pass)
	return []Latencies{first, idle, busy}, err
}

// pass sweeps all subjects once: it overwrites the values whose retention period has ended. It returns the number of
// subjects with such values.
func (w *world) pass(ctx context.Context) (swept int64, err error) {
	engines := w.gdpr.Stack()
	sweeper, err := sweep.NewSweeper(sweep.Config{
		Sessions: engines.Sessions, Clock: system.Clock{}, IDs: &system.IDs{}, DataMap: engines.DataMap,
		Plan: engines.Eraser.Plan(),
	})
	if err != nil {
		return 0, err
	}
	runner, err := saga.NewRunner(saga.Config{Sessions: engines.Sessions, Clock: system.Clock{}, IDs: &system.IDs{}})
	if err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	var reports domain.SweepReport
	work, err := worker.New(runner, worker.Options{PollInterval: time.Hour, Tasks: []worker.Task{{
		Name: "sweep", Every: time.Hour, Run: func(ctx context.Context) (bool, error) {
			report, more, err := sweeper.RunOnce(ctx, time.Second)
			reports.Add(report)
			if !more || err != nil {
				ended <- err
				return false, err
			}
			return true, nil
		},
	}}})
	if err != nil {
		return 0, err
	}
	work.Start() //nolint:contextcheck // the worker runs until it is stopped
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return reports.Subjects, errors.Join(err, work.Stop(time.Minute))
}

// load erases customers one after the other at a constant rate.
type load struct {
	*world
	next, perSecond int
}

func (l *load) during(
	ctx context.Context, what string, do func(context.Context) (int64, error),
) (b Latencies, err error) {
	var ended atomic.Bool
	result := make(chan error, 1)
	begin := time.Now()
	go func() {
		swept, err := do(ctx)
		b.Swept, b.Took = swept, time.Since(begin)
		ended.Store(true)
		result <- err
	}()
	var took []time.Duration
	ticker := time.NewTicker(time.Second / time.Duration(l.perSecond))
	defer ticker.Stop()
	for !ended.Load() {
		<-ticker.C
		l.next++
		subject, err := domain.NewSubject(fmt.Sprint(l.next))
		if err != nil {
			return b, err
		}
		start := time.Now()
		if _, err := l.gdpr.Operator().Erase(ctx, subject); err != nil {
			return b, err
		}
		took = append(took, time.Since(start))
	}
	err = <-result
	slices.Sort(took)
	b.What, b.Erasures = what, len(took)
	b.P50, b.P99, b.Most = took[len(took)/2], took[len(took)*99/100], took[len(took)-1]
	return b, err
}
