package pgxlisten_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"go.uber.org/goleak"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

// patience is a timeout that is much longer than any step of these tests takes.
const patience = time.Minute

var errHost = errors.New("the host's part failed")

// database is a PostgreSQL database with the tables of habeas.
type database struct {
	url   string
	db    *bun.DB
	store *bunstore.Store
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{url: postgres.NewDatabase(t)}
	sqldb, err := sql.Open("pgx", d.url)
	must(t, err)
	t.Cleanup(func() { _ = sqldb.Close() })
	d.db = bun.NewDB(sqldb, pgdialect.New())
	must(t, bunstore.Migrate(t.Context(), d.db, bunstore.Options{}))
	d.store, err = bunstore.New(d.db, users(t), bunstore.Options{})
	must(t, err)
	return d
}

// users returns a data map of one table.
func users(t *testing.T) datamap.DataMap {
	t.Helper()
	return fixture.MustMap(t, fixture.Users())
}

func (d *database) config(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig(d.url)
	must(t, err)
	return config
}

// enqueue adds an outbox entry in a session whose function returns err. If err is not nil, the session rolls back.
func (d *database) enqueue(t *testing.T, err error) {
	t.Helper()
	enqueueIn(t, d.store, err)
}

func enqueueIn(t *testing.T, sessions ports.SessionFactory, err error) {
	t.Helper()
	id, invalid := domain.NewSubjectID("1")
	must(t, invalid)
	got := sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		added := s.Outbox().Enqueue(ctx, domain.OutboxEntry{
			EntryID: (&system.IDs{}).NewID(), SubjectID: id, Resolver: "desk", Operation: domain.OperationErase,
			Status: domain.OutboxPending, EnqueuedAt: time.Now(),
		})
		if _, counted := s.OutboxAdmin().Counts(ctx); counted != nil || added != nil { // the insert is sent
			return errors.Join(added, counted)
		}
		return err
	})
	if !errors.Is(got, err) {
		t.Fatal(got)
	}
}

func (r *running) wait(t *testing.T) {
	t.Helper()
	select {
	case <-r.woken:
	case <-time.After(patience):
		t.Fatal("nobody was woken")
	}
}

func TestACommitThatEnqueuesWakes(t *testing.T) {
	d := newDatabase(t)
	r := run(t, d.config(t), pgxlisten.Options{})
	r.wait(t)
	for range 3 {
		d.enqueue(t, nil)
		r.wait(t)
	}
}

func TestACommitOfTheHostThatEnqueuesWakes(t *testing.T) {
	d := newDatabase(t)
	r := run(t, d.config(t), pgxlisten.Options{})
	r.wait(t)
	must(t, d.db.RunInTx(t.Context(), nil, func(_ context.Context, tx bun.Tx) error {
		sessions, err := d.store.Join(tx)
		must(t, err)
		enqueueIn(t, sessions, nil)
		return nil
	}))
	r.wait(t)
}

// A connection that listens on the channels of two data maps gets one notification of each commit, on the channel of
// the data map that committed.
func TestACommitOfADataMapWakesOnlyItsOwnListeners(t *testing.T) {
	d := newDatabase(t)
	staff := bunstore.Options{Name: "staff"}
	must(t, bunstore.Migrate(t.Context(), d.db, staff))
	employees, err := bunstore.New(d.db, users(t), staff)
	must(t, err)
	conn, err := pgx.ConnectConfig(t.Context(), d.config(t))
	must(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	if pgxlisten.ChannelOf("") != pgxlisten.Channel || pgxlisten.ChannelOf("staff") == pgxlisten.Channel {
		t.Fatalf("the channels are %q and %q", pgxlisten.ChannelOf(""), pgxlisten.ChannelOf("staff"))
	}
	for _, name := range []string{"", "staff"} {
		_, err := conn.Exec(t.Context(), "LISTEN "+pgxlisten.ChannelOf(name))
		must(t, err)
	}
	inside := func(store *bunstore.Store) {
		must(t, d.db.RunInTx(t.Context(), nil, func(_ context.Context, tx bun.Tx) error {
			sessions, err := store.Join(tx)
			must(t, err)
			enqueueIn(t, sessions, nil)
			return nil
		}))
	}
	for _, commit := range []struct {
		name string
		fn   func()
	}{
		{"", func() { enqueueIn(t, d.store, nil) }},
		{"staff", func() { enqueueIn(t, employees, nil) }},
		{"", func() { inside(d.store) }},
		{"staff", func() { inside(employees) }},
		{"", func() { inside(d.store) }},
	} {
		commit.fn()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		got, err := conn.WaitForNotification(ctx)
		cancel()
		must(t, err)
		if got.Channel != pgxlisten.ChannelOf(commit.name) {
			t.Errorf("a commit of the data map %q was notified on %s", commit.name, got.Channel)
		}
	}
}

func TestARollbackSendsNoNotification(t *testing.T) {
	d := newDatabase(t)
	conn, err := pgx.ConnectConfig(t.Context(), d.config(t))
	must(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), "LISTEN "+pgxlisten.Channel)
	must(t, err)
	d.enqueue(t, errHost)
	_, err = d.db.ExecContext(t.Context(), "SELECT pg_notify('"+pgxlisten.Channel+"', 'the test')")
	must(t, err)
	first, err := conn.WaitForNotification(t.Context()) // PostgreSQL delivers notifications in the order of the commits
	must(t, err)
	if first.Payload != "the test" {
		t.Errorf("something else was notified: %q", first.Payload)
	}
}

func TestItReconnectsAfterItsBackendWasTerminated(t *testing.T) {
	d := newDatabase(t)
	r := run(t, d.config(t), pgxlisten.Options{})
	r.wait(t)
	for n := 1; n <= 2; n++ {
		var terminated []bool
		must(t, d.db.NewRaw("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"+
			" WHERE datname = current_database() AND query = ?", "LISTEN "+pgxlisten.Channel).Scan(t.Context(), &terminated))
		if len(terminated) != 1 || !terminated[0] {
			t.Fatalf("terminated %v", terminated)
		}
		r.wait(t) // the new connection wakes the worker
		if warnings := r.log.warnings(t); len(warnings) != n || warnings[n-1]["sqlstate"] != "57P01" {
			t.Errorf("the log holds %s", r.log.String())
		}
		d.enqueue(t, nil)
		r.wait(t)
	}
}

func TestRunLeavesNoGoroutineBehind(t *testing.T) {
	d := newDatabase(t)
	before := goleak.IgnoreCurrent()
	r := run(t, d.config(t), pgxlisten.Options{})
	r.wait(t)
	r.stop()
	// The driver closes the connection of a canceled query on its own, and waits for the server.
	closes := goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgconn.(*PgConn).asyncClose.func1")
	goleak.VerifyNone(t, before, closes)
}
