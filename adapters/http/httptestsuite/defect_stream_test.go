package httptestsuite

import (
	"net/http"
	"net/http/httptest"
	"time"
)

// streaming returns the harness of an adapter that passes the requests for large exports to the given function. The
// adapter handles all other requests as usual.
func streaming(serve func(next http.Handler, w http.ResponseWriter, r *http.Request)) Harness {
	return serving(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(subjectHeader) == bulkSubject {
				serve(next, w, r)
			} else {
				next.ServeHTTP(w, r)
			}
		})
	})
}

func streamDefects() defects {
	return defects{
		"streams that are buffered completely": {streaming(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, r)
			_, _ = w.Write(recorded.Body.Bytes())
		}), found{`with Content-Type ["text/plain; charset=utf-8"]`: {largeExportIsStreamed}}},
		"aborted streams that end normally": {streaming(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			defer func() { _ = recover() }()
			next.ServeHTTP(enduring{w}, r)
		}), found{"was not closed": {failureHalfwayAbortsTheResponse}}},
		"streams whose end a client cannot recognize": {
			streaming(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
				newer := *r
				newer.Proto, newer.ProtoMinor = "HTTP/1.1", 1
				next.ServeHTTP(eager{w}, &newer)
			}),
			found{"a broken export over HTTP/1.0 looks complete": {exportOverHTTP10IsWholeOrFails}},
		},
		"streams that are cut": {streaming(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&cutter{w, 1 << 10}, r)
		}), found{"the response is not a bundle": {largeExportIsStreamed}}},
	}
}

// enduring is a ResponseWriter that accepts a write deadline and ignores it. A response can therefore not be broken
// off.
type enduring struct{ http.ResponseWriter }

func (enduring) SetWriteDeadline(time.Time) error { return nil }

// eager is a ResponseWriter that sends the headers at once, also if the export fails before its first bytes are sent.
type eager struct{ http.ResponseWriter }

func (e eager) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func (e eager) WriteHeader(status int) {
	e.ResponseWriter.WriteHeader(status)
	_ = http.NewResponseController(e.ResponseWriter).Flush() // the server supports it
}

// cutter is a ResponseWriter that writes only the first bytes of a body, and drops the rest without an error. remaining
// is the number of bytes that it still writes.
type cutter struct {
	http.ResponseWriter
	remaining int
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutter) Write(p []byte) (int, error) {
	_, err := c.ResponseWriter.Write(p[:min(len(p), c.remaining)])
	c.remaining -= min(len(p), c.remaining)
	return len(p), err
}
