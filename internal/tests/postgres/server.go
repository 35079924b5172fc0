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
	// startTimeout bounds one start; initdb takes a second, more on a loaded machine.
	startTimeout = 2 * time.Minute
	// stopTimeout leaves the supervisor its three signals of ten seconds each.
	stopTimeout = 40 * time.Second
	// startAttempts is how many ports are tried: a free port can be taken by somebody else before the server has it.
	startAttempts = 3
)

// VersionEnv is the major version of private servers, 14 for one, which is fetched and unpacked; see package prebuilt.
// The default is what the system has installed.
const VersionEnv = "HABEAS_TEST_POSTGRES_VERSION"

// errPortTaken says that somebody else took the port between its choice and the server's start.
var errPortTaken = errors.New("postgres: the port was taken")

// Server is a private PostgreSQL server with a data directory of its own.
type Server struct {
	url       string
	directory string
	process   *exec.Cmd
	// alive is never written to. The supervisor stops the server when it closes: by Stop, or with this process.
	alive *os.File
	// down reaches its end once the server is stopped and the directory removed.
	down *os.File
	// log stays readable after the directory is gone.
	log *os.File

	stop    sync.Once
	stopErr error
}

// Option changes how Start sets a server up.
type Option func(*settings)

type settings struct {
	durable  bool
	version  int // a major one, which is installed; 0 is what the system has
	base     string
	keep     string
	more     []string
	pattern  string
	freePort func() (int, error)
}

// Durable keeps PostgreSQL's stock durability, for tests that kill the server. Without it commits are not flushed
// (fsync, synchronous_commit and full_page_writes are off), which is what tests want.
func Durable() Option { return func(s *settings) { s.durable = true } }

// Start initialises and starts a server on a free loopback port and returns once it accepts connections. The error
// matches [ErrNoBinaries] on a machine without PostgreSQL. ctx bounds the start, not the server's life: that ends with
// Stop, or with this process.
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

// URL is the postgres:// URL of the server's administrative database.
func (s *Server) URL() string { return s.url }

// Stop shuts the server down, open connections included, and removes its directory. It may be called more than once;
// every call returns what the first one did.
func (s *Server) Stop() error {
	s.stop.Do(func() { s.stopErr = s.shutDown() })
	return s.stopErr
}

func (s *Server) shutDown() error {
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
	// The exit status is the server's, which a test may have killed on purpose: what counts is that it is gone.
	_ = s.process.Wait()
	if _, err := os.Stat(s.directory); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("postgres: the server's directory was not removed")
	}
	return nil
}

// start makes one attempt on one port.
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
		"unix_socket_directories=", // a path in a long TMPDIR would exceed the system's limit
		"max_connections=200",
	}
	if !s.durable {
		values = append(values, "fsync=off", "synchronous_commit=off", "full_page_writes=off")
	}
	var arguments []string
	for _, value := range append(values, s.more...) {
		arguments = append(arguments, "-c", value)
	}
	return arguments
}

// awaitReady returns once the postmaster says that it accepts connections. It asks the server's own pid file and
// not the port, behind which a stranger may answer.
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
	const status = 7 // the line of postmaster.pid that holds the state, since PostgreSQL 10
	content, err := os.ReadFile(filepath.Join(s.directory, "data", "postmaster.pid"))
	if err != nil {
		return false
	}
	lines := strings.Split(string(content), "\n")
	return len(lines) > status && strings.TrimSpace(lines[status]) == "ready"
}

// startFailure explains why the server exited before it was ready, in its own words.
func (s *Server) startFailure() error {
	text, err := io.ReadAll(io.NewSectionReader(s.log, 0, 1<<20))
	if err != nil {
		return fmt.Errorf("postgres: the server did not start, and its log can't be read: %w", err)
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
