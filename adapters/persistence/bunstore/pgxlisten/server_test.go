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

// server simulates the part of a PostgreSQL server that a listener uses. It runs in memory, so that it works with a
// simulated clock.
type server struct {
	// dialled, if set, is called when a client opens connection number n, counted from 1. If it returns an error, the
	// server refuses the connection.
	dialled func(ctx context.Context, n int) error
	// greeting, if set, is the response to the start-up message instead of the default response.
	greeting pgproto3.BackendMessage
	// respond, if set, handles queries. If it returns false, the server sends the default response.
	respond func(s *server, query string) bool

	began   time.Time
	mu      sync.Mutex
	dials   []dial
	queries []string
	hungUp  int // number of Terminate messages
	conn    net.Conn
	backend *pgproto3.Backend
}

// dial describes a connection of a client.
type dial struct {
	at      time.Duration // when the client opened the connection, since the start of the server
	cancels bool          // the client opened the connection to cancel the query of another connection
}

func newServer() *server { return &server{began: time.Now()} }

// config returns a configuration for the server. A test checks that errors and logs do not contain the names and the
// password of the configuration.
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
		_, _ = io.Copy(io.Discard, conn) // until the client closes the connection
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
			case s.respond != nil && s.respond(s, message.String):
			case message.String == "-- ping":
				s.say(&pgproto3.EmptyQueryResponse{}, ready)
			default:
				s.say(&pgproto3.CommandComplete{CommandTag: []byte("LISTEN")}, ready)
			}
		}
	}
}

// keyOfProcess1 is a BackendKeyData message with the process id 1. It encodes itself, because the types of the fields
// of BackendKeyData differ between versions of pgx.
type keyOfProcess1 struct{ pgproto3.BackendKeyData }

func (*keyOfProcess1) Encode(message []byte) ([]byte, error) {
	return append(message, 'K', 0, 0, 0, 12, 0, 0, 0, 1, 1, 2, 3, 4), nil
}

// say sends messages over the latest connection.
func (s *server) say(messages ...pgproto3.BackendMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, message := range messages {
		s.backend.Send(message)
	}
	_ = s.backend.Flush() // fails if the client has closed the connection
}

func (s *server) notify() {
	s.say(&pgproto3.NotificationResponse{PID: 2, Channel: "habeas_outbox"})
}

// drop closes the latest connection.
func (s *server) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.Close()
}

// connections returns the times at which clients connected, except to cancel a query.
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

// heard returns the queries of all clients and the number of Terminate messages that clients sent.
func (s *server) heard() (queries []string, goodbyes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queries), s.hungUp
}
