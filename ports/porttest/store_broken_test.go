package porttest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// noDefect leaves a store correct.
func noDefect(*Store) {}

type (
	found       = promise.Finds[StoreHarness]
	defects     = map[string]storeDefect
	storeDefect struct { // a defect, and the checks that must detect it
		breaks func(*Store)
		found  found
	}
)

func brokenStore(d storeDefect) (StoreHarness, found) { return inMemory(d.breaks), d.found }

// promisesOf returns the storage promises that are checked by one of the given cases.
func promisesOf(checks ...func(testing.TB, StoreHarness)) []promise.Promise[StoreHarness] {
	return slices.DeleteFunc(storagePromises(), func(p promise.Promise[StoreHarness]) bool { return !p.IsIn(checks) })
}

// testPatience is the time after which a call counts as blocked. It is long enough for a call that is immediate on an
// idle machine, even if other tests run under the race detector.
const testPatience = 5 * time.Second

// inMemory returns a harness that opens stores in memory and calls addDefect with each store. The functions of these
// stores, such as Store.Statements, simulate a database.
func inMemory(addDefect func(*Store)) StoreHarness {
	return StoreHarness{
		Patience: testPatience,
		Waive:    map[string]string{"outbox claims do not wait for each other": "one session writes at a time"},
		Open: func(t testing.TB) Store {
			t.Helper()
			store := openInMemory(shop())
			addDefect(&store)
			return store
		},
	}
}

func openInMemory(tables []datamap.Table) Store {
	dataMap, err := datamap.NewDataMap(tables...)
	if err != nil {
		panic(err)
	}
	good, err := memory.New(dataMap, memory.Options{})
	if err != nil {
		panic(err)
	}
	store := Store{
		Catalog: good,
		Finder:  good,
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
		Observed: func(_ testing.TB, observer ports.Observer) ports.SessionFactory {
			watched, err := memory.New(dataMap, memory.Options{Observer: observer})
			if err != nil {
				panic(err)
			}
			return watched
		},
		Entries:     func(testing.TB) []domain.OutboxEntry { return good.Entries() },
		Unreachable: func(testing.TB) Store { return Store{Sessions: nowhere{}, Catalog: nowhere{}, Finder: nowhere{}} },
		Tamper: func(testing.TB, string) (change, remove error) {
			return errors.New("refused"), errors.New("refused")
		},
	}
	pool := &pool{}
	store.Connections, store.Statements = pool.connections, pool.statements
	store.Sessions = pool.watch(good)
	return store
}

type sessionFunc = func(context.Context, ports.Session) error

// doFunc is the method Do or Rehearse of a session factory.
type doFunc func(ctx context.Context, fn func(context.Context, ports.Session) error) error

// factory implements ports.SessionFactory with functions.
type factory struct {
	do, rehearse doFunc
	probe        func(context.Context) error
}

func (f factory) Do(ctx context.Context, fn sessionFunc) error       { return f.do(ctx, fn) }
func (f factory) Rehearse(ctx context.Context, fn sessionFunc) error { return f.rehearse(ctx, fn) }
func (f factory) Probe(ctx context.Context) error                    { return f.probe(ctx) }

// wrapped returns a session factory in which the last two functions replace the methods Do and Rehearse. Each function
// gets the method that it replaces as its first argument.
func wrapped(
	sessions ports.SessionFactory, do, rehearse func(doFunc, context.Context, sessionFunc) error,
) ports.SessionFactory {
	return factory{
		func(ctx context.Context, fn sessionFunc) error { return do(sessions.Do, ctx, fn) },
		func(ctx context.Context, fn sessionFunc) error { return rehearse(sessions.Rehearse, ctx, fn) },
		sessions.Probe,
	}
}

// asIs calls a method and does not change its effect. As an argument of wrapped, it keeps the correct method.
func asIs(run doFunc, ctx context.Context, fn sessionFunc) error { return run(ctx, fn) }

// changesDo returns a function that makes a store defective: brokenDo replaces its Do. The first argument of brokenDo
// is the correct method.
func changesDo(
	brokenDo func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error,
) func(*Store) {
	return func(store *Store) { store.Sessions = wrapped(store.Sessions, brokenDo, asIs) }
}

// replacedStores is a session with other stores: each field that is set replaces a store of the embedded session.
type replacedStores struct {
	ports.Session
	consents     ports.ConsentStore
	restrictions ports.RestrictionStore
	subjects     ports.SubjectStore
	outbox       ports.Outbox
	audit        ports.AuditLog
	erased       ports.ErasedStore
}

func (r replacedStores) Consents() ports.ConsentStore {
	return replacedOrOwn(r.consents, ports.Session.Consents, r.Session)
}

func (r replacedStores) Restrictions() ports.RestrictionStore {
	return replacedOrOwn(r.restrictions, ports.Session.Restrictions, r.Session)
}

func (r replacedStores) Subjects() ports.SubjectStore {
	return replacedOrOwn(r.subjects, ports.Session.Subjects, r.Session)
}

func (r replacedStores) Outbox() ports.Outbox {
	return replacedOrOwn(r.outbox, ports.Session.Outbox, r.Session)
}

func (r replacedStores) Audit() ports.AuditLog {
	return replacedOrOwn(r.audit, ports.Session.Audit, r.Session)
}

func (r replacedStores) Erased() ports.ErasedStore {
	return replacedOrOwn(r.erased, ports.Session.Erased, r.Session)
}

func replacedOrOwn[S comparable](broken S, own func(ports.Session) S, s ports.Session) S {
	var none S
	if broken != none {
		return broken
	}
	return own(s)
}

// changesSessions returns a function that makes a store defective: it passes each session through wrapSession before it
// passes the session to fn of Do.
func changesSessions(wrapSession func(s ports.Session) replacedStores) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error { return fn(ctx, wrapSession(s)) })
	})
}

// pool simulates the connections and statements of a database, because a store in memory has none. Each call of a
// method of a SubjectStore counts as one statement. A session takes a connection with its first statement and releases
// the connection at its end.
type pool struct{ held, sent atomic.Int64 }

func (p *pool) connections() int { return int(p.held.Load()) }
func (p *pool) statements() int  { return int(p.sent.Load()) }

func (p *pool) watch(sessions ports.SessionFactory) ports.SessionFactory {
	count := func(run doFunc, ctx context.Context, fn sessionFunc) error {
		connection := &connection{pool: p}
		defer connection.release()
		return run(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replacedStores{
				Session: s, subjects: counted{s.Subjects(), connection}, erased: countedErased{s.Erased(), connection},
			})
		})
	}
	return wrapped(sessions, count, count)
}

// connection is the simulated connection of one session. It is open after the first statement of the session.
type connection struct {
	pool *pool
	open bool
}

func (c *connection) use(id domain.SubjectID) {
	if _, err := DataMap().Key(id); err != nil { // checked before any statement
		return
	}
	c.pool.sent.Add(1)
	if !c.open {
		c.open = true
		c.pool.held.Add(1)
	}
}

func (c *connection) release() {
	if c.open {
		c.pool.held.Add(-1)
	}
}

// counted is a SubjectStore that counts its calls as statements.
type counted struct {
	ports.SubjectStore
	connection *connection
}

func (c counted) Lock(ctx context.Context, id domain.SubjectID, at time.Time) (time.Time, error) {
	c.connection.use(id)
	return c.SubjectStore.Lock(ctx, id, at)
}

func (c counted) Apply(ctx context.Context, id domain.SubjectID, steps []datamap.Step) (domain.Applied, error) {
	c.connection.use(id)
	return c.SubjectStore.Apply(ctx, id, steps)
}

func (c counted) Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
	c.connection.use(id)
	return c.SubjectStore.Rectify(ctx, id, step)
}

func (c counted) Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
	c.connection.use(id)
	return c.SubjectStore.Export(ctx, id, yield)
}

func (c counted) Holdings(ctx context.Context, id domain.SubjectID) ([]domain.Holding, error) {
	c.connection.use(id)
	return c.SubjectStore.Holdings(ctx, id)
}

func (c counted) Keys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error) {
	c.connection.use(id)
	return c.SubjectStore.Keys(ctx, id, query)
}

// countedErased is an ErasedStore that counts its calls about one subject as statements.
type countedErased struct {
	ports.ErasedStore
	connection *connection
}

func (c countedErased) SweptKeys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error) {
	c.connection.use(id)
	return c.ErasedStore.SweptKeys(ctx, id, query)
}

func (c countedErased) Sweep(ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error) {
	c.connection.use(id)
	return c.ErasedStore.Sweep(ctx, id, steps)
}

func (c countedErased) LeftOver(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step, at time.Time,
) (domain.Leftovers, error) {
	c.connection.use(id)
	return c.ErasedStore.LeftOver(ctx, id, steps, at)
}

// nowhere simulates a store whose database cannot be reached. A session of this store has only an audit log.
type nowhere struct{}

var errNowhere = &domain.Error{Code: domain.ErrUnavailable, Op: "session", Message: "nobody answers"}

func (nowhere) Do(ctx context.Context, fn sessionFunc) error {
	log := &lostLog{}
	err := fn(ctx, replacedStores{audit: log})
	if err == nil && log.used {
		err = errNowhere
	}
	if err != nil && log.evidence {
		err = errors.Join(err, &domain.Error{Op: "evidence", Message: "lost"})
	}
	return err
}

func (n nowhere) Rehearse(ctx context.Context, fn sessionFunc) error { return n.Do(ctx, fn) }

func (nowhere) Probe(context.Context) error { return errNowhere }

func (nowhere) Catalog(context.Context) (datamap.Catalog, error) {
	return datamap.Catalog{}, errNowhere
}

func (nowhere) Satisfies(
	context.Context, string, datamap.CatalogCheck, []map[string]any,
) ([]datamap.Verdict, error) {
	return nil, errNowhere
}

func (nowhere) Find(context.Context, []string, func(search.Progress)) (search.Result, error) {
	return search.Result{}, errNowhere
}

type lostLog struct{ used, evidence bool }

func (l *lostLog) Append(context.Context, ...domain.AuditEvent) error {
	l.used = true
	return nil
}

func (l *lostLog) AppendEvidence(_ context.Context, events ...domain.AuditEvent) error {
	l.used, l.evidence = true, l.evidence || len(events) > 0
	return nil
}

func (l *lostLog) AppendOnRollback(context.Context, ...domain.AuditEvent) error { return nil }

func (l *lostLog) Trail(context.Context, domain.SubjectID) ([]domain.AuditEvent, error) {
	l.used = true
	return nil, errNowhere
}
