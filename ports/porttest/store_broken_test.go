package porttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
	"github.com/habeas-data/habeas/ports"
)

// right breaks nothing.
func right(*Store) {}

type (
	found       = promise.Finds[StoreHarness]
	defects     = map[string]storeDefect
	storeDefect struct { // a way to break promises, and the checks that find it
		breaks func(*Store)
		found  found
	}
)

func brokenStore(d storeDefect) (StoreHarness, found) { return inMemory(d.breaks), d.found }

// only are the promises of stores with these checks.
func only(checks ...func(testing.TB, StoreHarness)) []promise.Promise[StoreHarness] {
	return slices.DeleteFunc(storagePromises(), func(p promise.Promise[StoreHarness]) bool { return !p.IsIn(checks) })
}

// loadedMachine is the time that what comes at once needs beside many other tests, under the race detector.
const loadedMachine = 5 * time.Second

// inMemory opens stores in memory, which keep every promise, and breaks them. Their hooks stand for a database's.
func inMemory(breaks func(*Store)) StoreHarness {
	return StoreHarness{
		Patience: loadedMachine,
		Waive:    map[string]string{"outbox claims do not wait for each other": "one session writes at a time"},
		Open: func(t testing.TB) Store {
			t.Helper()
			good, err := memory.New(DataMap(), memory.Options{})
			if err != nil {
				t.Fatal(err)
			}
			store := Store{
				Sessions: good,
				Insert: func(t testing.TB, table string, row Row) {
					t.Helper()
					if err := good.Insert(table, row); err != nil {
						t.Fatal(err)
					}
				},
				Rows: func(t testing.TB, table string) (rows []Row) {
					t.Helper()
					found, err := good.Rows(table)
					if err != nil {
						t.Fatal(err)
					}
					for _, row := range found {
						rows = append(rows, row)
					}
					return rows
				},
				Erased: func(_ testing.TB, id domain.SubjectID) (last time.Time, marked bool) {
					last, times := good.Erased(id)
					return last, times > 0
				},
				Entries:     func(testing.TB) []domain.OutboxEntry { return good.Entries() },
				Unreachable: func(testing.TB) ports.SessionFactory { return nowhere{} },
				Tamper:      func(testing.TB, string) (change, remove error) { return errors.New("refused"), errors.New("refused") },
			}
			pool := &pool{}
			store.Connections, store.Statements = pool.connections, pool.statements
			store.Sessions = pool.watch(store.Sessions)
			breaks(&store)
			return store
		},
	}
}

// doFunc is a session factory that is a function.
type doFunc func(ctx context.Context, fn func(context.Context, ports.Session) error) error

func (f doFunc) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return f(ctx, fn)
}

// changesDo is a defect of how sessions are run; do is how the good store runs them.
func changesDo(
	change func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error,
) func(*Store) {
	return func(store *Store) {
		do := doFunc(store.Sessions.Do)
		store.Sessions = doFunc(func(ctx context.Context, fn func(context.Context, ports.Session) error) error {
			return change(do, ctx, fn)
		})
	}
}

// replaced is a session with other stores in place of its own; those that are nil are its own.
type replaced struct {
	ports.Session
	consents     ports.ConsentStore
	restrictions ports.RestrictionStore
	subjects     ports.SubjectStore
	outbox       ports.Outbox
	audit        ports.AuditLog
}

func (r replaced) Consents() ports.ConsentStore {
	if r.consents != nil {
		return r.consents
	}
	return r.Session.Consents()
}

func (r replaced) Restrictions() ports.RestrictionStore {
	if r.restrictions != nil {
		return r.restrictions
	}
	return r.Session.Restrictions()
}

func (r replaced) Subjects() ports.SubjectStore {
	if r.subjects != nil {
		return r.subjects
	}
	return r.Session.Subjects()
}

func (r replaced) Outbox() ports.Outbox {
	if r.outbox != nil {
		return r.outbox
	}
	return r.Session.Outbox()
}

func (r replaced) Audit() ports.AuditLog {
	if r.audit != nil {
		return r.audit
	}
	return r.Session.Audit()
}

// changesSessions is a defect of what sessions hand out.
func changesSessions(change func(s ports.Session) replaced) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error { return fn(ctx, change(s)) })
	})
}

// joined is an id whose elements can't be told apart any more.
func joined(id domain.SubjectID) domain.SubjectID {
	one, err := domain.NewSubjectID(strings.ReplaceAll(strings.Join(id.Elements(), ""), "\x1f", ""))
	if err != nil {
		return id
	}
	return one
}
