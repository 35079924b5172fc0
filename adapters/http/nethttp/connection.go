package nethttp

import (
	"io"
	"net/http"
	"time"
)

// canBreakOff reports whether the response can be broken off so that a client sees it, whatever middlewares do with a
// panic. HTTP/1.0 has no frames: the end of the connection looks like the end of the body. A writer that neither sets
// deadlines nor unwraps to one that does keeps the connection out of reach.
func canBreakOff(w http.ResponseWriter, r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) {
		return false
	}
	for {
		switch writer := w.(type) {
		case interface{ SetWriteDeadline(time.Time) error }:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = writer.Unwrap()
		default:
			return false
		}
	}
}

// breakOff ends the connection, or the stream of HTTP/2, without the end of the response. The panic alone would do,
// were it not for middlewares that recover: the server then completes what was sent. After the deadline it cannot.
func breakOff(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // canBreakOff has found that it is there
	panic(http.ErrAbortHandler)
}

// hasBody reports whether the request comes with a body, which may still be on its way.
func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// arriving is a request's body with a deadline for its reads.
type arriving struct {
	io.Reader
	w        http.ResponseWriter
	deadline time.Time
	own      time.Duration // http.Server.ReadTimeout; 0 for none
}

func arrivingBody(w http.ResponseWriter, r *http.Request) *arriving {
	a := &arriving{Reader: r.Body, w: w}
	if server, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		a.own = max(server.ReadTimeout, 0)
	}
	return a
}

// setDeadline bounds all that is read of the request from now on, also what the server reads of a body that the API has
// left, before it sends a response. The server's own timeout is kept where it ends earlier.
func (a *arriving) setDeadline(deadline time.Time) {
	if a.own > 0 && time.Until(deadline) >= a.own {
		return
	}
	a.deadline = deadline
	_ = http.NewResponseController(a.w).SetReadDeadline(deadline) // not to be had behind a writer that does not unwrap
}

// Read implements io.Reader. The deadline ends with the body: the server goes on to read, to find out whether the
// client is there, and would take the deadline for the client's end.
func (a *arriving) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if err == io.EOF && !a.deadline.IsZero() {
		var none time.Time
		if a.own > 0 {
			none = time.Now().Add(a.own)
		}
		a.deadline = time.Time{}
		_ = http.NewResponseController(a.w).SetReadDeadline(none)
	}
	return n, err
}
