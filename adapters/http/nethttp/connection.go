package nethttp

import (
	"io"
	"net/http"
	"time"
)

// canBreakOff reports whether a client can detect that breakOff has ended a response early. It returns false in these
// cases:
//
//   - The request uses HTTP/1.0. The end of the connection then also means the end of the body.
//   - Neither w nor a writer that its method Unwrap returns has the method SetWriteDeadline. Without this method, the
//     server could complete the response if a middleware recovers the panic of breakOff.
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

// breakOff ends the connection before the end of the response. With HTTP/2, it ends only the stream of this request.
// breakOff first sets a write deadline in the past, and then panics with http.ErrAbortHandler. If a middleware recovers
// the panic, the server tries to complete the response. This attempt fails because of the deadline.
func breakOff(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // canBreakOff has checked that w supports it
	panic(http.ErrAbortHandler)
}

// hasBody reports whether the request has a body, which may still be arriving.
func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// arriving is the body of a request. It can set a read deadline and removes the deadline when the body has arrived.
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

// setDeadline sets the read deadline of the connection or HTTP/2 stream for all further reads of the body. The deadline
// also applies if the server itself reads the rest of the body before it sends the response. setDeadline does nothing
// if the server's ReadTimeout is shorter than the time until the deadline.
func (a *arriving) setDeadline(deadline time.Time) {
	if a.own > 0 && time.Until(deadline) >= a.own {
		return
	}
	a.deadline = deadline
	_ = http.NewResponseController(a.w).SetReadDeadline(deadline) // fails behind a writer without the method Unwrap
}

// Read implements io.Reader. At the end of the body, Read replaces the deadline of setDeadline by the server's
// ReadTimeout. The server continues to read from the connection, and would treat an expired deadline as a disconnect of
// the client.
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
