package nethttp

import (
	"io"
	"net/http"
	"time"
)

// canBreakOff reports whether breakOff can break the response off so that the client detects it, also behind
// middlewares that recover panics. Over HTTP/1.0 it cannot, because the end of the connection looks like the end of the
// body. It also cannot if the method SetWriteDeadline is missing in the writer and in all writers that it unwraps to.
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

// breakOff ends the connection, or the stream of HTTP/2, before the end of the response. It panics with
// http.ErrAbortHandler. If a middleware recovers the panic, the server tries to complete the response. This attempt
// fails, because breakOff has set a write deadline in the past.
func breakOff(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // canBreakOff has checked that w supports it
	panic(http.ErrAbortHandler)
}

// hasBody reports whether the request has a body, which may still be arriving.
func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// arriving is the body of a request, with a deadline for its reads.
type arriving struct {
	io.Reader
	w        http.ResponseWriter
	deadline time.Time     // zero if setDeadline has set no deadline, or the body has arrived
	own      time.Duration // http.Server.ReadTimeout; 0 means no timeout
}

func arrivingBody(w http.ResponseWriter, r *http.Request) *arriving {
	a := &arriving{Reader: r.Body, w: w}
	if server, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		a.own = max(server.ReadTimeout, 0)
	}
	return a
}

// setDeadline sets the deadline of all further reads of the request. It also applies when the server reads the rest of
// the body before it sends a response. If the ReadTimeout of the server ends earlier, setDeadline does nothing.
func (a *arriving) setDeadline(deadline time.Time) {
	if a.own > 0 && time.Until(deadline) >= a.own {
		return
	}
	a.deadline = deadline
	_ = http.NewResponseController(a.w).SetReadDeadline(deadline) // fails behind a writer without the method Unwrap
}

// Read implements io.Reader. At the end of the body, it replaces the deadline by the ReadTimeout of the server. The
// server continues to read in order to detect a disconnect, and would take an expired deadline for a disconnect.
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
