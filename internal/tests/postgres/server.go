//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// startTimeout is the time limit of a start. initdb takes a second, and longer on a loaded machine.
	startTimeout = 2 * time.Minute
	// stopTimeout is the time limit of Stop. The supervisor tries up to three signals, each for ten seconds.
	stopTimeout = 40 * time.Second
	// startAttempts is the number of ports that Start tries. Another process can take a free port before the server uses
	// it.
	startAttempts = 3
)

// VersionEnv is the environment variable with the major version of private servers, for example 14. The tests then
// download and unpack that version (see package prebuilt). If the variable is empty, they use the installed version.
const VersionEnv = "HABEAS_TEST_POSTGRES_VERSION"

// errPortTaken means that another process took the port after the port was selected and before the server used it.
var errPortTaken = errors.New("postgres: the port was taken")

// Server is a private PostgreSQL server with its own data directory.
type Server struct {
	url       string
	directory string
	process   *exec.Cmd
	// alive is the write end of a pipe to the supervisor (the script that runs the server). This process writes nothing to
	// the pipe. Stop or the end of this process closes the pipe, and the supervisor then stops the server.
	alive *os.File
	// down is the read end of a pipe from the supervisor (the script that runs the server). A read returns io.EOF after
	// the server has stopped and its directory has been removed.
	down *os.File
	// log is the log file of the server. Because it is open, it can be read even after its directory is removed.
	log *os.File

	stop    sync.Once
	stopErr error
}

// Option is an option of Start.
type Option func(*settings)

type settings struct {
	durable  bool
	version  int // a major version to install; 0 selects the installed version
	base     string
	keep     string
	more     []string
	pattern  string
	freePort func() (int, error)
}

// Durable keeps the default durability of PostgreSQL, for tests that kill the server. Without this option, fsync,
// synchronous_commit and full_page_writes are off, so commits are not flushed to the disk.
func Durable() Option { return func(s *settings) { s.durable = true } }

// Start initialises and starts a server on a free loopback port, and returns after the server accepts connections. On a
// machine without PostgreSQL, the error matches [ErrNoBinaries]. ctx limits only the start. The server runs until Stop
// is called or this process ends.
func Start(ctx context.Context, options ...Option) (*Server, error) {
	s := settings{pattern: debianBinaries, freePort: freePort}
	if err := s.readVersion(os.Getenv(VersionEnv)); err != nil {
		return nil, err
	}
	for _, option := range options {
		option(&s)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	programs, err := findBinaries(s.pattern)
	if err != nil && s.version == 0 {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		server, err := s.start(ctx, programs)
		if !errors.Is(err, errPortTaken) || attempt == startAttempts {
			return server, err
		}
	}
}

// URL returns the postgres:// URL of the server's administrative database.
func (s *Server) URL() string { return s.url }

// Stop closes all connections, shuts the server down and removes its directory. Further calls return the result of the
// first call.
func (s *Server) Stop() error {
	s.stop.Do(func() { s.stopErr = s.shutDown() })
	return s.stopErr
}

func (s *Server) shutDown() error {
	forgetFree(s.url)
	defer s.down.Close()
	defer s.log.Close()
	if err := s.alive.Close(); err != nil {
		return fmt.Errorf("postgres: stop: %w", err)
	}
	if err := s.down.SetReadDeadline(time.Now().Add(stopTimeout)); err != nil {
		return fmt.Errorf("postgres: stop: %w", err)
	}
	if _, err := io.Copy(io.Discard, s.down); err != nil {
		return fmt.Errorf("postgres: the server is still running: %w", err)
	}
	// The exit status is ignored, because a test may have killed the server on purpose.
	_ = s.process.Wait()
	if _, err := os.Stat(s.directory); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("postgres: the server's directory was not removed")
	}
	return nil
}

// start makes one attempt to start a server on one port.
func (s settings) start(ctx context.Context, programs binaries) (*Server, error) {
	port, err := s.freePort()
	if err != nil {
		return nil, fmt.Errorf("postgres: no free port: %w", err)
	}
	server, err := s.supervise(ctx, programs, port)
	if err != nil {
		return nil, err
	}
	server.url = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	if err := server.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

func (s settings) arguments(port int) []string {
	values := []string{
		"port=" + strconv.Itoa(port),
		"listen_addresses=127.0.0.1",
		"unix_socket_directories=", // a socket path in a long TMPDIR could exceed the limit of the system
		"max_connections=200",
	}
	if !s.durable {
		// Without jit=off, a statement over hundreds of tables takes longer to compile than to run. With autovacuum, a
		// process starts for each database every minute.
		values = append(values, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "jit=off", "autovacuum=off",
			"wal_level=minimal", "max_wal_senders=0")
	}
	var arguments []string
	for _, value := range append(values, s.more...) {
		arguments = append(arguments, "-c", value)
	}
	return arguments
}

// awaitReady waits until the server accepts connections. It reads the pid file of the server. It does not connect to
// the port of the server, because another process could listen on that port.
func (s *Server) awaitReady(ctx context.Context) error {
	const interval = 20 * time.Millisecond
	for {
		if err := s.down.SetReadDeadline(time.Now().Add(interval)); err != nil {
			return fmt.Errorf("postgres: start: %w", err)
		}
		_, err := s.down.Read(make([]byte, 1))
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return s.startFailure()
		case ctx.Err() != nil:
			return fmt.Errorf("postgres: start: %w", ctx.Err())
		case s.ready():
			return nil
		}
	}
}

func (s *Server) ready() bool {
	const status = 7 // index of the line of postmaster.pid with the state, since PostgreSQL 10
	content, err := os.ReadFile(filepath.Join(s.directory, "data", "postmaster.pid"))
	if err != nil {
		return false
	}
	lines := strings.Split(string(content), "\n")
	return len(lines) > status && strings.TrimSpace(lines[status]) == "ready"
}

// startFailure returns an error with the log of a server that exited before it was ready.
func (s *Server) startFailure() error {
	text, err := io.ReadAll(io.NewSectionReader(s.log, 0, 1<<20))
	if err != nil {
		return fmt.Errorf("postgres: the server did not start, and its log cannot be read: %w", err)
	}
	if strings.Contains(string(text), "could not bind") {
		return errPortTaken
	}
	return fmt.Errorf("postgres: the server did not start:\n%s", text)
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.New("a TCP listener without a TCP address")
	}
	return address.Port, nil
}
