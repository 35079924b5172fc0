package nethttp

import (
	"net/http"
	"sync"
	"time"
)

// shutdowns tells streams when their server begins to shut down. It has a channel for each server.
type shutdowns struct{ channels sync.Map }

// of returns a channel that is closed when the server of the request begins to shut down. If the server is not known,
// it returns nil.
func (s *shutdowns) of(r *http.Request) <-chan struct{} {
	server, isServer := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !isServer {
		return nil
	}
	known, isKnown := s.channels.Load(server)
	if !isKnown {
		begun := make(chan struct{})
		if known, isKnown = s.channels.LoadOrStore(server, begun); !isKnown {
			server.RegisterOnShutdown(sync.OnceFunc(func() { close(begun) }))
		}
	}
	ended, _ := known.(chan struct{}) // the map has no other values
	return ended
}

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

// readTimeout returns the ReadTimeout of the server, or 0 if it is not known.
func readTimeout(r *http.Request) time.Duration {
	if server, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		return server.ReadTimeout
	}
	return 0
}
