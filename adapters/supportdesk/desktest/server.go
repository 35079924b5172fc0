package desktest

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Server is a fake desk that listens on a port of this machine.
type Server struct {
	*Desk
	URL string // the value for supportdesk.Options.BaseURL

	http   *http.Server
	served chan struct{}
}

// Start starts a desk without contacts on a free port of the loopback interface. The caller must call Close. The
// context bounds only the start.
func Start(ctx context.Context, token string) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &Server{
		Desk:   New(token),
		URL:    "http://" + listener.Addr().String(),
		served: make(chan struct{}),
	}
	server.http = &http.Server{
		Handler:           server.Desk,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // the log could contain parts of requests
	}
	go func() {
		defer close(server.served)
		_ = server.http.Serve(listener) // always returns http.ErrServerClosed after Close
	}()
	return server, nil
}

// Close stops the server and closes all its connections. A request that waits in Latch.Hold then ends as if its client
// had disconnected.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.served
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
