package servers

import (
	_ "embed"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

//go:embed supervise.sh
var supervise string

// bouncerConfig is the configuration of PgBouncer with transaction pooling: all clients share a few connections to the
// server, and a client has such a connection only during a transaction.
const bouncerConfig = `
[databases]
* = host=127.0.0.1 port=%s user=postgres

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 1000
server_idle_timeout = 1
`

type bouncer struct{ port string }

// startBouncer starts PgBouncer as a proxy of a server. PgBouncer opens at most the given number of connections to each
// database of the server.
func startBouncer(t testing.TB, server string, connections int) bouncer {
	t.Helper()
	program, err := findBouncer()
	must(t, err)
	account, err := postgres.Account()
	must(t, err)
	directory, err := os.MkdirTemp("/tmp", "habeas-pgbouncer-")
	must(t, err)
	parsed, err := url.Parse(server)
	must(t, err)
	b := bouncer{port: freePort(t)}
	config := filepath.Join(directory, "pgbouncer.ini")
	content := fmt.Sprintf(bouncerConfig, parsed.Port(), b.port, connections)
	must(t, os.WriteFile(config, []byte(content), 0o600))
	if account != nil {
		for _, name := range []string{directory, config} {
			must(t, os.Chown(name, int(account.Uid), int(account.Gid)))
		}
	}
	log, err := os.CreateTemp(t.TempDir(), "pgbouncer-*.log")
	must(t, err)
	process := exec.Command("/bin/sh", "-c", supervise, "habeas-pgbouncer", directory, program, config)
	process.Dir, process.Stderr = directory, log
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: account}
	alive, err := process.StdinPipe()
	must(t, err)
	must(t, process.Start())
	t.Cleanup(func() {
		_ = alive.Close()
		_ = process.Wait() // after that, its directory is removed
		text, err := os.ReadFile(log.Name())
		if t.Failed() && err == nil {
			t.Logf("PgBouncer said:\n%s", text)
		}
		_ = log.Close()
	})
	awaitPort(t, b.port)
	return b
}

// through returns the URL of a database with the address of the proxy in place of the address of the server. The last
// arguments are names and values to add to the query of the URL, such as "default_query_exec_mode", "exec".
func (b bouncer) through(t testing.TB, database string, parameters ...string) string {
	t.Helper()
	parsed, err := url.Parse(database)
	must(t, err)
	parsed.Host = "127.0.0.1:" + b.port
	query := parsed.Query()
	for i := 0; i < len(parameters); i += 2 {
		query.Set(parameters[i], parameters[i+1])
	}
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

// findBouncer searches PATH, and then the directory in which Debian installs PgBouncer. That directory is often not in
// PATH.
func findBouncer() (string, error) {
	if found, err := exec.LookPath("pgbouncer"); err == nil {
		return found, nil
	}
	const debian = "/usr/sbin/pgbouncer"
	if _, err := os.Stat(debian); err != nil {
		return "", fmt.Errorf("PgBouncer is missing; run: sudo apt-get install pgbouncer (%w)", err)
	}
	return debian, nil
}

func freePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, err)
	return port
}

func awaitPort(t testing.TB, port string) {
	t.Helper()
	await(t, 20*time.Second, "a server that listens", func() bool {
		connection, err := net.DialTimeout("tcp4", "127.0.0.1:"+port, time.Second)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	})
}

// await waits until condition returns true, and returns the elapsed time. If this takes longer than timeout, the test
// fails with a message that contains the description of the condition.
func await(t testing.TB, timeout time.Duration, description string, condition func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		if time.Since(began) > timeout {
			t.Fatalf("waited %v in vain for %s", timeout, description)
		}
		<-ticker.C
	}
	return time.Since(began)
}
