package servers

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// pair is a primary and a synchronous standby. A commit on the primary waits until the standby has written the commit
// to its disk.
type pair struct {
	primary, standby *postgres.Server
	postmaster       int // the process id of the primary
}

func startPair(t testing.TB, settings ...postgres.Option) *pair {
	t.Helper()
	// A primary that is killed keeps its shared memory, so the memory is in its directory, which is removed.
	inDirectory := postgres.Setting("dynamic_shared_memory_type=mmap")
	options := append([]postgres.Option{postgres.Durable(), postgres.ForStandbys(), inDirectory}, settings...)
	p := &pair{primary: postgres.Private(t, options...)}
	p.standby = postgres.Private(t, postgres.Durable(), postgres.StandbyOf(p.primary, "standby"))
	await(t, time.Minute, "a standby that streams", func() bool {
		return scalar(t, p.primary.URL(), "SELECT count(*)::text FROM pg_stat_replication WHERE state = 'streaming'") == "1"
	})
	scalar(t, p.primary.URL(), "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
	scalar(t, p.primary.URL(), "SELECT pg_reload_conf()::text")
	await(t, time.Minute, "a standby that is synchronous", func() bool {
		return scalar(t, p.primary.URL(), "SELECT min(sync_state) FROM pg_stat_replication") == "sync"
	})
	pid, _, _ := strings.Cut(scalar(t, p.primary.URL(), "SELECT pg_read_file('postmaster.pid')"), "\n")
	var err error
	p.postmaster, err = strconv.Atoi(pid)
	must(t, err)
	t.Cleanup(p.kill) // a frozen server does not stop on request
	return p
}

// url returns a URL with the addresses of both servers. With this URL, the driver connects to the server that accepts
// writes.
func (p *pair) url(t testing.TB) string {
	t.Helper()
	primary, err := url.Parse(p.primary.URL())
	must(t, err)
	standby, err := url.Parse(p.standby.URL())
	must(t, err)
	return "postgres://postgres@" + primary.Host + "," + standby.Host +
		"/postgres?sslmode=disable&target_session_attrs=read-write&connect_timeout=2"
}

// promote makes the standby the primary. The new primary has no standby, so its commits do not wait.
func (p *pair) promote(t testing.TB) {
	t.Helper()
	if scalar(t, p.standby.URL(), "SELECT pg_promote(TRUE, 60)::text") != "true" {
		t.Fatal("the standby was not promoted")
	}
}

// kill ends all processes of the primary immediately, like a power failure.
func (p *pair) kill() { p.signal(syscall.SIGKILL) }

// freeze suspends all processes of the primary. Its connections stay open, but they get no response.
func (p *pair) freeze() { p.signal(syscall.SIGSTOP) }

// signal sends a signal to the postmaster (the main process of the primary) and then to its child processes. A
// postmaster always has child processes. If there are none, the primary has ended, and signal does nothing.
func (p *pair) signal(sent syscall.Signal) {
	children := childrenOf(p.postmaster)
	if len(children) == 0 {
		return // the process has ended
	}
	_ = syscall.Kill(p.postmaster, sent)
	for _, child := range append(children, childrenOf(p.postmaster)...) {
		_ = syscall.Kill(child, sent)
	}
}

func childrenOf(parent int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var children []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		status, err := os.ReadFile("/proc/" + entry.Name() + "/status")
		if err == nil && slices.Contains(strings.Split(string(status), "\n"), "PPid:\t"+strconv.Itoa(parent)) {
			children = append(children, pid)
		}
	}
	return children
}

// scalar runs a statement on a new connection. It returns the first value of the result, or "" if there is none.
func scalar(t testing.TB, database, statement string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := sql.Open("pgx", database)
	must(t, err)
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(ctx, statement)
	must(t, err)
	defer rows.Close()
	var value sql.NullString
	if rows.Next() {
		must(t, rows.Scan(&value))
	}
	must(t, rows.Err())
	return value.String
}
