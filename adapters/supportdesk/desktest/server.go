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

// Server is a desk that listens on a port of this machine.
type Server struct {
	*Desk
	URL string // what supportdesk.Options.BaseURL takes

	http   *http.Server
	served chan struct{}
}

// Start returns a running desk that knows nobody, on a free port of the loopback interface. Close ends it,
// ctx does not.
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
		ErrorLog:          log.New(io.Discard, "", 0), // it would quote what the client sent
	}
	go func() {
		defer close(server.served)
		_ = server.http.Serve(listener) // ends with http.ErrServerClosed
	}()
	return server, nil
}

// Close ends the server and all its connections. Requests that are being held lose their client.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.served
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
