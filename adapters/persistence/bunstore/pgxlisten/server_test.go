package pgxlisten_test

import (
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// server is as much of a PostgreSQL server as a listener talks to, in memory, so that it works where time is not real.
type server struct {
	// dialled, if set, is asked before each connection, counted from 1, and may refuse it.
	dialled func(ctx context.Context, n int) error
	// greeting, if set, answers a start-up instead of the usual.
	greeting pgproto3.BackendMessage
	// answer, if set, answers queries; where it reports false, the usual answer follows.
	answer func(s *server, query string) bool

	began   time.Time
	mu      sync.Mutex
	dials   []dial
	queries []string
	hungUp  int // how often a client said goodbye
	conn    net.Conn
	backend *pgproto3.Backend
}

// dial is when a connection was dialled, and whether that was to cancel something over another.
type dial struct {
	at      time.Duration
	cancels bool
}

func newServer() *server { return &server{began: time.Now()} }

// config leads to the server, by a name and with a password that have to stay secret.
func (s *server) config(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig("postgres://secret_user:secret_password@secret.invalid/secret_database?sslmode=disable")
	must(t, err)
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	config.DialFunc = s.dial
	return config
}

func (s *server) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	s.dials = append(s.dials, dial{at: time.Since(s.began)})
	n := len(s.dials)
	s.mu.Unlock()
	if s.dialled != nil {
		if err := s.dialled(ctx, n); err != nil {
			return nil, err
		}
	}
	client, end := net.Pipe()
	go s.serve(n, end)
	return client, nil
}

func (s *server) serve(n int, conn net.Conn) {
	defer conn.Close()
	backend := pgproto3.NewBackend(conn, conn)
	startup, err := backend.ReceiveStartupMessage()
	if err != nil {
		return
	}
	s.mu.Lock()
	if _, cancels := startup.(*pgproto3.CancelRequest); cancels {
		s.dials[n-1].cancels = true
		s.mu.Unlock()
		return
	}
	s.conn, s.backend = conn, backend
	s.mu.Unlock()
	if s.greeting != nil {
		s.say(s.greeting)
		_, _ = io.Copy(io.Discard, conn) // until the client hangs up
		return
	}
	ready := &pgproto3.ReadyForQuery{TxStatus: 'I'}
	s.say(&pgproto3.AuthenticationOk{}, &keyOfProcess1{}, ready)
	for {
		message, err := backend.Receive()
		if err != nil {
			return
		}
		switch message := message.(type) {
		case *pgproto3.Terminate:
			s.mu.Lock()
			s.hungUp++
			s.mu.Unlock()
			return
		case *pgproto3.Query:
			s.mu.Lock()
			s.queries = append(s.queries, message.String)
			s.mu.Unlock()
			switch {
			case s.answer != nil && s.answer(s, message.String):
			case message.String == "-- ping":
				s.say(&pgproto3.EmptyQueryResponse{}, ready)
			default:
				s.say(&pgproto3.CommandComplete{CommandTag: []byte("LISTEN")}, ready)
			}
		}
	}
}

// say sends messages over the connection that was made last.
// keyOfProcess1 is a BackendKeyData, whose Go type is not the same in all versions of pgx.
type keyOfProcess1 struct{ pgproto3.BackendKeyData }

func (*keyOfProcess1) Encode(message []byte) ([]byte, error) {
	return append(message, 'K', 0, 0, 0, 12, 0, 0, 0, 1, 1, 2, 3, 4), nil
}

func (s *server) say(messages ...pgproto3.BackendMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, message := range messages {
		s.backend.Send(message)
	}
	_ = s.backend.Flush() // a client that is gone hears nothing
}

func (s *server) notify() {
	s.say(&pgproto3.NotificationResponse{PID: 2, Channel: "habeas_outbox"})
}

// drop cuts the connection that was made last.
func (s *server) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.Close()
}

// connections is when each was dialled, but for those that were dialled to cancel something.
func (s *server) connections() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var at []time.Duration
	for _, dial := range s.dials {
		if !dial.cancels {
			at = append(at, dial.at)
		}
	}
	return at
}

// heard is what clients asked, and how often one said goodbye.
func (s *server) heard() (queries []string, goodbyes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queries), s.hungUp
}
