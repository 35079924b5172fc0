package wakeup

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/bench/habeas"
)

// Way is the way in which a worker is notified of a new outbox entry.
type Way struct {
	Title   string // what wakes the worker
	another bool   // the erasures run in another application than the worker
	listens bool   // the worker's application listens to notifications of the database
	polls   bool   // only polls
}

// Ways are all measured ways.
var Ways = []Way{
	{Title: "commit"},
	{Title: "notification", another: true, listens: true},
	{Title: "polling", another: true, polls: true},
}

// never is a poll interval that is longer than any measurement, so that the worker does not poll.
const never = time.Hour

// desk is an external system that responds immediately and reports its calls.
type desk struct {
	habeas.Desk
	called chan<- time.Time
}

func (d desk) EraseSubject(ctx context.Context, _ domain.SubjectRef, _ domain.ErasureCall) (alreadyAbsent bool,
	err error,
) {
	select {
	case d.called <- time.Now():
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// open starts the applications for the measured way to notify the worker, and returns a function that stops them. The
// applications run in this process, but they share only the database, like separate processes.
func (m *measurement) open(ctx context.Context, database string) (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var err error
		for i := len(stops) - 1; i >= 0; i-- {
			err = errors.Join(err, stops[i]())
		}
		return err
	}
	integrate := func() (*app.Integration, error) { //nolint:contextcheck // app.New takes no context
		db, err := habeas.Open(database, m.Driver, m.Pool)
		if err != nil {
			return nil, err
		}
		stops = append(stops, db.Close)
		return app.New(m.config(db))
	}
	erasing, err := integrate()
	working := erasing
	if err == nil && m.way.another {
		working, err = integrate()
	}
	if err == nil && m.way.listens {
		var hangUp func() error
		if hangUp, err = listen(ctx, database, working.Worker().Wake); err == nil {
			stops = append(stops, hangUp)
		}
	}
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	m.stack = erasing.Stack()
	working.Worker().Start()
	stops = append(stops, func() error { return working.Worker().Stop(0) })
	return stop, nil
}

func (m *measurement) config(db *bun.DB) app.Config {
	config := habeas.Config(db)
	config.Resolvers = []ports.Resolver{desk{called: m.called}}
	config.PollInterval = never
	if m.way.polls {
		config.PollInterval = m.Poll
	}
	return config
}

// listen subscribes to the notifications of the database and returns. Each notification calls wake. The returned
// function ends the subscription.
func listen(ctx context.Context, database string, wake func()) (hangUp func() error, err error) {
	config, err := pgx.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	listening := make(chan struct{}, 1)
	listener, err := pgxlisten.New(config, func() {
		wake()
		select {
		case listening <- struct{}{}: // the listener calls wake once after it has subscribed
		default:
		}
	}, pgxlisten.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		listener.Run(ctx)
	}()
	hangUp = func() error {
		cancel()
		<-ended
		return nil
	}
	select {
	case <-listening:
		return hangUp, nil
	case <-time.After(waitTimeout):
		return nil, errors.Join(errors.New("no notification could be listened to"), hangUp())
	}
}
