// Package badday measures the outbox under bad conditions: with a backlog that cannot be processed, with an external
// system that fails or does not respond, with a long transaction, and with many idle processes.
package badday

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/bench/habeas"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// Config describes the measurement.
type Config struct {
	ServerURL string // PostgreSQL server
	Pool      int    // connections of each process
	// Progress is called before each step.
	Progress func(text string)
}

// world is a database with an empty outbox.
type world struct {
	url   string
	db    *bun.DB
	store *bunstore.Store
	ids   *system.IDs
	n     int64 // number of subjects so far
}

func (c Config) open(ctx context.Context, name string) (*world, error) {
	url, err := shop.CreateAs(ctx, c.ServerURL, name, 0)
	if err != nil {
		return nil, err
	}
	return c.join(url)
}

// join opens an existing database with new connections, like another process of the application.
func (c Config) join(url string) (*world, error) {
	db, err := habeas.Open(url, c.Pool)
	if err != nil {
		return nil, err
	}
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeText}},
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	store, err := bunstore.New(db, dataMap, bunstore.Options{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &world{url: url, db: db, store: store, ids: &system.IDs{}}, nil
}

func (w *world) close() { _ = w.db.Close() }

// enqueue adds the given number of outbox entries for the resolver. Each entry belongs to a new subject.
func (w *world) enqueue(ctx context.Context, resolver string, entries int) error {
	for entries > 0 {
		n := min(entries, 1000)
		entries -= n
		if err := w.store.Do(ctx, func(ctx context.Context, s ports.Session) error {
			batch := make([]domain.OutboxEntry, n)
			for i := range batch {
				w.n++
				subject, err := domain.NewSubjectID(fmt.Sprintf("%s-%d", resolver, w.n))
				if err != nil {
					return err
				}
				batch[i] = domain.OutboxEntry{
					EntryID: w.ids.NewID(), SubjectID: subject, Resolver: resolver, Ref: domain.SubjectRef{Kind: resolver, Value: "x"},
					Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: domain.Instant(time.Now()),
				}
			}
			return s.Outbox().Enqueue(ctx, batch...)
		}); err != nil {
			return err
		}
	}
	return nil
}

// runner returns a saga.Runner with default settings. It represents the runner of one process of an application.
func (w *world) runner(sessions ports.SessionFactory, systems ...ports.Resolver) (*saga.Runner, error) {
	return saga.NewRunner(saga.Config{
		Sessions: sessions, Clock: system.Clock{}, IDs: w.ids, Resolvers: systems,
		Options: saga.Options{Jitter: system.Jitter},
	})
}

// desk is an external system.
type desk struct {
	name  string
	erase func(ctx context.Context) error
}

func (d desk) Name() string                        { return d.name }
func (desk) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (d desk) EraseSubject(ctx context.Context, _ domain.SubjectRef, _ domain.ErasureCall) (alreadyAbsent bool,
	err error,
) {
	return false, d.erase(ctx)
}

type durations []time.Duration

// quantile returns the duration that the given part of all durations does not exceed. For example, 0.5 selects the
// median.
func (d durations) quantile(part float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}
