package httptestsuite

import (
	"net/http"
	"net/http/httptest"
	"time"
)

// streaming is a harness that does something to the answers of the hoarder.
func streaming(serve func(next http.Handler, w http.ResponseWriter, r *http.Request)) Harness {
	return serving(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(subjectHeader) == hoarder {
				serve(next, w, r)
			} else {
				next.ServeHTTP(w, r)
			}
		})
	})
}

func streamDefects() map[string]defect {
	return map[string]defect{
		"streams that are gathered first": {
			streaming(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
				recorded := httptest.NewRecorder()
				next.ServeHTTP(recorded, r)
				_, _ = w.Write(recorded.Body.Bytes())
			}),
			map[string]string{
				"large export is streamed":              `with Content-Type ["text/plain; charset=utf-8"]`,
				"failure halfway breaks the answer off": "answered 200 and not 500",
				"answer that nobody reads is given up":  "the session of an answer that was not taken committed",
			},
		},
		"streams that end in peace": {
			streaming(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
				defer func() { _ = recover() }()
				next.ServeHTTP(enduring{w}, r)
			}),
			map[string]string{"failure halfway breaks the answer off": "was not broken off"},
		},
		"streams without an end that a client can see": {
			streaming(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
				newer := *r
				newer.Proto, newer.ProtoMinor = "HTTP/1.1", 1
				next.ServeHTTP(w, &newer)
			}),
			map[string]string{"export over HTTP/1.0 is whole or fails": "a broken export over HTTP/1.0 looks whole"},
		},
		"streams that are cut": {
			streaming(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(&cutter{w, 1 << 10}, r)
			}),
			map[string]string{
				"large export is streamed":             "the answer is no bundle",
				"answer that nobody reads is given up": "was not taken committed",
			},
		},
	}
}

// enduring takes a deadline and does not heed it.
type enduring struct{ http.ResponseWriter }

func (enduring) SetWriteDeadline(time.Time) error { return nil }

// cutter drops what comes after so many bytes.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutter) Write(p []byte) (int, error) {
	_, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	c.left -= min(len(p), c.left)
	return len(p), err
}
